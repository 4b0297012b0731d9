import { NodeRefusal, RpcFault } from "@causeway/families";
import { afterEach, expect, test, vi } from "vitest";
import { createEndpointOrder, type EndpointOrder } from "./nodes/endpoint-order.ts";
import type {
  NonEvmAttempt,
  NonEvmHead,
  NonEvmOutcome,
  OpenConnection,
  PayingConnection,
} from "./non-evm-connection.ts";
import { combineConnections } from "./non-evm-endpoints.ts";

afterEach(() => void vi.useRealTimers());

const networkFault = new RpcFault({ kind: "network", method: "call", reason: "refused" });
const contradicted = new RpcFault({ kind: "inconsistent", method: "prepare", reason: "may still pay" });
const refusal = new NodeRefusal({ method: "call", nodeCode: -8, nodeText: "no", nodeData: undefined });
const attempt: NonEvmAttempt = { raw: "0x01", txId: `0x${"01".repeat(32)}`, fee: 1n, madeAtMs: 1 };
const earlier: NonEvmAttempt = { ...attempt, raw: "0x02", txId: `0x${"02".repeat(32)}` };
const block = { number: 7n, hash: `0x${"07".repeat(32)}` } as const;

interface Behavior {
  balance?: bigint | Error;
  cost?: bigint | Error;
  outcome?: NonEvmOutcome | Error | Promise<NonEvmOutcome>;
  send?: "sent" | { refused: string } | Error | Promise<"sent">;
  head?: NonEvmHead;
  headFault?: Error;
  prepare?: NonEvmAttempt | Error;
  /** Whether what it prepares conflicts with every earlier attempt. */
  conflicts?: true;
}

/** Endpoints whose answers the test sets, as one connection. More than half of them must agree. */
function chainOf(...behaviors: readonly Behavior[]) {
  return chainWith(Math.floor(behaviors.length / 2) + 1, behaviors);
}

function chainWith(quorum: number, behaviors: readonly Behavior[]) {
  let nowMs = 0;
  const disagreements: [string, readonly number[]][] = [];
  const queriedEndpoints: number[] = [];
  const closed: number[] = [];
  const answer = async <T>(index: number, value: T | Promise<T> | Error | undefined): Promise<T> => {
    queriedEndpoints.push(index);
    if (value === undefined) throw networkFault;
    if (value instanceof Error) throw value;
    return await value;
  };
  const connections = behaviors.map((behavior, index) => {
    const connection = {
      balances: async () => new Map([["0x", await answer(index, behavior.balance)]]),
      paymentCost: async () => await answer(index, behavior.cost),
      outcome: async () => await answer(index, behavior.outcome),
      send: async () => await answer(index, behavior.send),
      prepare: async () => await answer(index, behavior.prepare),
      ...(behavior.conflicts && { conflicts: () => true }),
      ...(behavior.head !== undefined && {
        head: async () => {
          if (behavior.headFault !== undefined) throw behavior.headFault;
          return await Promise.resolve(behavior.head ?? { position: 0n });
        },
      }),
      close: async () => await Promise.resolve(void closed.push(index)),
    } as unknown as PayingConnection;
    return { ...connection, withKey: () => connection } as unknown as OpenConnection;
  });
  const order: EndpointOrder = createEndpointOrder(
    behaviors.map((_, index) => `node${index}`),
    () => nowMs,
  );
  const connection = combineConnections(connections as unknown as [OpenConnection], order, {
    quorum,
    onDisagreement: (question, places) => void disagreements.push([question, places]),
    now: () => nowMs,
  });
  return {
    connection,
    disagreements,
    closed,
    forward: (ms: number) => void (nowMs += ms),
    /** The endpoints that were queried since the last call of this. */
    queried: () => queriedEndpoints.splice(0),
    states: () => connection.endpoints?.().map(({ state, isLead }) => (isLead ? `${state}, lead` : state)),
  };
}

test("reads use the first endpoint that works; one that failed is queried last for half a minute", async () => {
  const first: Behavior = { balance: networkFault };
  const { connection, forward, queried, states } = chainOf(first, { balance: 5n });
  expect(await connection.balances([])).toEqual(new Map([["0x", 5n]]));
  expect(queried()).toEqual([0, 1]);
  expect(states()).toEqual(["failing", "ok, lead"]);
  first.balance = 6n;
  expect(await connection.balances([])).toEqual(new Map([["0x", 5n]]));
  expect(queried()).toEqual([1]);
  forward(30_001);
  expect(await connection.balances([])).toEqual(new Map([["0x", 6n]]));
  expect(states()).toEqual(["ok, lead", "ok"]);
});

test("throws the fault of the first endpoint if every endpoint fails", async () => {
  const { connection, queried } = chainOf({ balance: networkFault }, { balance: contradicted });
  await expect(connection.balances([])).rejects.toBe(networkFault);
  expect(queried()).toEqual([0, 1]);
});

test.each<[string, readonly (bigint | Error)[], bigint | Error, bigint | Error]>([
  ["one liar of two reports a high cost", [900n, 5n], 5n, 5n],
  ["one liar of three reports a high cost", [900n, 5n, 6n], 6n, 6n],
  ["one liar of three reports no cost", [0n, 5n, 6n], 5n, 5n],
  ["one of three is down", [networkFault, 900n, 5n], 5n, 5n],
  ["one of two is down", [900n, networkFault], 900n, networkFault],
  ["a single endpoint", [900n], 900n, 900n],
  ["all are down", [networkFault, networkFault], networkFault, networkFault],
])("no endpoint raises the cost of a payment alone: %s", async (_, costs, usual, confirmed) => {
  const { connection } = chainOf(...costs.map((cost) => ({ cost })));
  const outcome = async (decidedBy?: "quorum"): Promise<unknown> =>
    await connection.paymentCost("0x", undefined, decidedBy).catch((fault: unknown) => fault);
  expect(await outcome()).toBe(usual);
  // A decision needs answers from a quorum.
  expect(await outcome("quorum")).toBe(confirmed);
});

test("the cost for a quote is asked from one endpoint", async () => {
  const { connection, queried } = chainOf({ cost: 5n }, { cost: 6n }, { cost: 7n });
  expect(await connection.paymentCost("0x", "0x0a", "lead")).toBe(5n);
  expect(queried()).toEqual([0]);
});

test("a refusal by an endpoint is not skipped, and an error of our own ends the call", async () => {
  const { connection, queried, states } = chainOf({ balance: refusal }, { balance: 5n });
  await connection.balances([]);
  expect(states()).toEqual(["ok, lead", "ok"]);
  queried();
  const broken = chainOf({ balance: new TypeError("a bug") }, { balance: 5n });
  await expect(broken.connection.balances([])).rejects.toThrow("a bug");
  expect(broken.queried()).toEqual([0]);
});

test.each<[string, readonly Behavior[], unknown]>([
  ["one accepts", [{ send: networkFault }, { send: { refused: "spent" } }, { send: "sent" }], "sent"],
  [
    "none accepts and one refuses",
    [{ send: networkFault }, { send: { refused: "spent" } }],
    { refused: "spent" },
  ],
])("a payment is sent to all endpoints: %s", async (_, behaviors, expected) => {
  const { connection, queried } = chainOf(...behaviors);
  expect(await connection.send(attempt)).toEqual(expected);
  expect(queried()).toHaveLength(behaviors.length);
});

test("a payment that no endpoint accepts is a fault", async () => {
  await expect(chainOf({ send: networkFault }, { send: networkFault }).connection.send(attempt)).rejects.toBe(
    networkFault,
  );
});

test("a payment is sent once one endpoint accepts it; closing waits for the others", async () => {
  const late = Promise.withResolvers<"sent">();
  const { connection, closed, states } = chainOf({ send: late.promise }, { send: "sent" });
  expect(await connection.send(attempt)).toBe("sent");
  const closing = connection.close();
  await Promise.resolve();
  expect(closed).toEqual([]);
  late.reject(networkFault);
  await closing;
  expect(closed).toEqual([0, 1]);
  expect(states()).toEqual(["failing", "ok, lead"]);
});

const dead: NonEvmOutcome = { kind: "dead", reason: "expired" };
const unseen: NonEvmOutcome = { kind: "unseen" };
const pending: NonEvmOutcome = { kind: "pending" };
const mined: NonEvmOutcome = { kind: "mined", block };
const final: NonEvmOutcome = { kind: "final", block };
const otherBlock = { number: 8n, hash: `0x${"08".repeat(32)}` } as const;
const forked: NonEvmOutcome = { kind: "final", block: otherBlock };
const pruned = new RpcFault({ kind: "pruned", method: "outcome", reason: "no longer has the blocks" });

test.each<[string, readonly (NonEvmOutcome | Error)[], NonEvmOutcome]>([
  ["final from all", [final, final, final], final],
  ["final from two of three", [final, unseen, final], final],
  ["final, and mined in the same block", [unseen, mined, final], mined],
  ["final, and another one is down", [networkFault, final, final], final],
  ["one liar of three shows it as final", [final, unseen, unseen], pending],
  ["one liar of three shows it as mined", [mined, unseen, unseen], pending],
  ["one liar of three reports it as dead", [dead, unseen, unseen], unseen],
  ["one liar of three reports it as dead, and it is final", [dead, final, final], final],
  ["one liar of three shows it as final, and it is dead", [final, dead, dead], pending],
  ["one liar of three shows it in another block", [forked, final, final], final],
  ["final in two blocks", [forked, final, networkFault], pending],
  ["dead from all", [dead, dead, dead], dead],
  ["dead from two of three, and the third does not know it", [unseen, dead, dead], dead],
  ["dead from two of three, and the third is down", [dead, dead, networkFault], dead],
  ["dead from two of three, and the third has pruned it", [pruned, dead, dead], dead],
  ["dead from two of three, and the third shows it", [dead, dead, pending], pending],
  ["of two, one is dead and one is final", [dead, final], pending],
  ["of two, one is dead and one is unseen", [dead, unseen], unseen],
  ["of two, one is mined and one is pending", [mined, pending], pending],
  ["unseen, pending and mined", [unseen, pending, mined], pending],
  ["unseen, and another one is down", [unseen, unseen, networkFault], unseen],
  ["final from two of three, and the third contradicts itself", [final, contradicted, final], final],
  ["final from a single one", [final], final],
  ["mined from a single one", [mined], mined],
  ["dead from a single one", [dead], dead],
])("a quorum decides the outcome of a payment: %s", async (_, outcomes, expected) => {
  const { connection } = chainOf(...outcomes.map((outcome) => ({ outcome })));
  expect(await connection.outcome(attempt)).toEqual(expected);
});

test.each<[string, readonly (NonEvmOutcome | Error)[], Error]>([
  ["one liar of three, and the others are down: final", [final, networkFault, networkFault], networkFault],
  ["one liar of three, and the others are down: mined", [networkFault, mined, networkFault], networkFault],
  ["one liar of three, and the others are down: dead", [networkFault, networkFault, dead], networkFault],
  ["one of two is down: final", [networkFault, final], networkFault],
  ["one of two is down: dead", [dead, networkFault], networkFault],
  ["one of two is down: unseen", [unseen, networkFault], networkFault],
  ["one of two has pruned it", [dead, pruned], pruned],
  ["one of two contradicts itself", [contradicted, dead], contradicted],
  [
    "one of three contradicts itself, and the others report it as dead",
    [dead, contradicted, dead],
    contradicted,
  ],
  [
    "one of three contradicts itself, and the others do not agree",
    [unseen, contradicted, final],
    contradicted,
  ],
  ["a single one is down", [networkFault], networkFault],
  ["a single one has pruned it", [pruned], pruned],
])("nothing is decided without a quorum: %s", async (_, outcomes, fault) => {
  const { connection } = chainOf(...outcomes.map((outcome) => ({ outcome })));
  await expect(connection.outcome(attempt)).rejects.toBe(fault);
});

test("with rpcQuorum 1, one endpoint of several shows a payment, but never reports it as dead alone", async () => {
  const outcomeOf = async (...outcomes: readonly (NonEvmOutcome | Error)[]) =>
    await chainWith(
      1,
      outcomes.map((outcome) => ({ outcome })),
    ).connection.outcome(attempt);
  expect(await outcomeOf(dead)).toEqual(dead);
  expect(await outcomeOf(final, networkFault)).toEqual(final);
  expect(await outcomeOf(dead, unseen)).toEqual(unseen);
  for (const silent of [networkFault, pruned]) {
    await expect(outcomeOf(silent, dead)).rejects.toMatchObject({ kind: "inconsistent" });
    await expect(outcomeOf(dead, silent, silent)).rejects.toMatchObject({ kind: "inconsistent" });
    expect(await outcomeOf(dead, silent, dead)).toEqual(dead);
  }
});

test("with rpcQuorum 1, waits for the second endpoint before declaring a payment dead", async () => {
  vi.useFakeTimers();
  for (const [second, expected] of [
    [dead, dead],
    [final, final],
  ] as const) {
    const late = Promise.withResolvers<NonEvmOutcome>();
    const { connection } = chainWith(1, [{ outcome: dead }, { outcome: late.promise }]);
    const outcome = connection.outcome(attempt);
    await vi.advanceTimersByTimeAsync(20_000);
    late.resolve(second);
    expect(await outcome).toEqual(expected);
  }
});

test("a payment continues when the second of two endpoints returns", async () => {
  const second: Behavior = { outcome: networkFault };
  const { connection, states } = chainOf({ outcome: final }, second);
  await expect(connection.outcome(attempt)).rejects.toBe(networkFault);
  expect(states()).toEqual(["ok, lead", "failing"]);
  second.outcome = final;
  expect(await connection.outcome(attempt)).toEqual(final);
});

test("waits for the third endpoint before declaring a payment dead", async () => {
  vi.useFakeTimers();
  const late = Promise.withResolvers<NonEvmOutcome>();
  const { connection } = chainOf({ outcome: dead }, { outcome: dead }, { outcome: late.promise });
  const outcome = connection.outcome(attempt);
  await vi.advanceTimersByTimeAsync(20_000);
  late.resolve(final);
  expect(await outcome).toEqual(pending);
});

test("reports endpoints with contradicting final answers immediately", async () => {
  const { connection, disagreements } = chainOf({ outcome: dead }, { outcome: final }, { outcome: final });
  await connection.outcome(attempt);
  await vi.waitFor(() => expect(disagreements).toEqual([["outcome", [0]]]));
});

test("reports an endpoint that alone shows a payment after half a minute", async () => {
  const { connection, disagreements, forward } = chainOf(
    { outcome: unseen },
    { outcome: unseen },
    { outcome: mined },
  );
  for (let n = 0; n < 2; n++) {
    await connection.outcome(attempt);
    expect(disagreements).toEqual([]);
    forward(15_000);
  }
  await connection.outcome(attempt);
  expect(disagreements).toEqual([["outcome", [2]]]);
});

test("a payment does not leave its block when one endpoint that showed it fails and another is behind", async () => {
  vi.useFakeTimers();
  const head = { position: 7n, number: 7n };
  const first: Behavior = { outcome: mined, head };
  const second: Behavior = { outcome: mined, head };
  const third: Behavior = { outcome: unseen, head: { position: 6n, number: 6n } };
  const { connection } = chainOf(first, second, third);
  expect(await connection.outcome(attempt)).toEqual(mined);
  first.outcome = networkFault;
  await expect(connection.outcome(attempt)).rejects.toMatchObject({ kind: "inconsistent" });
  second.outcome = unseen;
  await expect(connection.outcome(attempt)).rejects.toMatchObject({ kind: "inconsistent" });
  third.head = head;
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await connection.outcome(attempt)).toEqual(unseen);
  await connection.close();
});

test("an endpoint that hangs delays an answer by one second and is not queried again until it answers", async () => {
  vi.useFakeTimers();
  const late = Promise.withResolvers<NonEvmOutcome>();
  const { connection, queried } = chainOf(
    { outcome: pending },
    { outcome: pending },
    { outcome: late.promise },
  );
  for (let n = 0; n < 2; n++) {
    const outcome = connection.outcome(attempt);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await outcome).toEqual(pending);
  }
  expect(queried()).toEqual([0, 1, 2, 0, 1]);
  late.resolve(final);
  expect(await connection.outcome(attempt)).toEqual(pending);
});

test("an endpoint whose head does not advance is queried last until it catches up", async () => {
  vi.useFakeTimers();
  const first: Behavior = { balance: 1n, head: { position: 5n } };
  const second: Behavior = { balance: 2n, head: { position: 5n } };
  const { connection, forward, states } = chainOf(first, second);
  const pass = async (): Promise<void> => {
    forward(15_000);
    await vi.advanceTimersByTimeAsync(15_000);
  };
  await pass();
  second.head = { position: 6n };
  for (let n = 0; n < 2; n++) await pass();
  expect(states()).toEqual(["ok, lead", "ok"]);
  await pass();
  expect(states()).toEqual(["lagging", "ok, lead"]);
  expect(await connection.balances([])).toEqual(new Map([["0x", 2n]]));
  first.head = { position: 6n };
  await pass();
  expect(states()).toEqual(["ok, lead", "ok"]);
  await connection.close();
});

test.each<[string, number, "keeps it" | "takes it back" | "fails"]>([
  ["of three, and keeps showing it", 3, "keeps it"],
  ["of three, and takes it back", 3, "takes it back"],
  ["of three, and then fails", 3, "fails"],
  ["of two, and takes it back", 2, "takes it back"],
  ["of two, and then fails", 2, "fails"],
])(
  "one endpoint that shows an implausible head does not make the others lag: one %s",
  async (_, count, nextStep) => {
    vi.useFakeTimers();
    const head = { position: 5n };
    const absurd: Behavior = { balance: 1n, head: { position: 10n ** 12n } };
    const honest = Array.from({ length: count - 1 }, () => ({ balance: 2n, head }));
    const { connection, forward, states } = chainOf(...honest, absurd);
    await vi.advanceTimersByTimeAsync(0);
    if (nextStep === "takes it back") absurd.head = head;
    if (nextStep === "fails") absurd.headFault = networkFault;
    for (let n = 0; n < 4; n++) {
      forward(15_000);
      await vi.advanceTimersByTimeAsync(15_000);
    }
    expect(states()?.slice(0, -1)).toEqual(["ok, lead", "ok"].slice(0, count - 1));
    await connection.close();
  },
);

test.each<[string, bigint]>([
  ["keeps it", 0n],
  ["advances it", 37n],
])(
  "of two endpoints, one that shows an implausible head and %s does not become the first",
  async (_, step) => {
    vi.useFakeTimers();
    const honest: Behavior = { balance: 1n, head: { position: 400_000_000n } };
    const absurd: Behavior = { balance: 2n, head: { position: 500_000_000n } };
    const { connection, forward, states } = chainOf(honest, absurd);
    const pass = async (...[honestStep, absurdStep]: readonly bigint[]): Promise<void> => {
      honest.head = { position: (honest.head?.position ?? 0n) + (honestStep ?? 0n) };
      absurd.head = { position: (absurd.head?.position ?? 0n) + (absurdStep ?? 0n) };
      forward(15_000);
      await vi.advanceTimersByTimeAsync(15_000);
    };
    for (let n = 0; n < 5; n++) await pass(37n, step);
    expect(states()).toEqual(["ok, lead", "ok"]);
    await connection.close();
  },
);

test("of two endpoints, one that is far behind is queried last while it stands still or catches up", async () => {
  vi.useFakeTimers();
  const behind: Behavior = { balance: 1n, head: { position: 899_000n } };
  const honest: Behavior = { balance: 2n, head: { position: 900_000n } };
  const { connection, forward, states } = chainOf(behind, honest);
  const pass = async (): Promise<void> => {
    forward(15_000);
    await vi.advanceTimersByTimeAsync(15_000);
  };
  for (let n = 0; n < 4; n++) await pass();
  expect(states()).toEqual(["lagging", "ok, lead"]);
  for (let n = 0; n < 4; n++) {
    behind.head = { position: (behind.head?.position ?? 0n) + 10n };
    await pass();
    expect(states()).toEqual(["lagging", "ok, lead"]);
  }
  await connection.close();
});

const payment = { recipient: "0x", currency: "0x", amount: 1n, orderId: undefined } as const;

const preparedAfter = async (...behaviors: readonly Behavior[]): Promise<NonEvmAttempt> => {
  const { connection } = chainOf(...behaviors);
  return await (await connection.withKey(`0x${"01".repeat(32)}`)).prepare(payment, [earlier], []);
};

test.each<[string, NonEvmOutcome | Error, NonEvmOutcome | Error, boolean]>([
  ["report as dead", dead, dead, true],
  ["report differently: one does not know it", dead, unseen, false],
  ["report differently: one shows it", dead, pending, false],
  ["report differently: the one that signs now does not know it", unseen, dead, false],
  ["report differently: one has pruned it", dead, pruned, false],
  ["cannot all be asked about", dead, networkFault, false],
])("new bytes after an attempt that the endpoints %s", async (_, firstOutcome, secondOutcome, isPrepared) => {
  const behaviors = [{ prepare: attempt, outcome: firstOutcome }, { outcome: secondOutcome }];
  if (isPrepared) expect(await preparedAfter(...behaviors)).toEqual(attempt);
  else await expect(preparedAfter(...behaviors)).rejects.toBeInstanceOf(RpcFault);
});

test.each<[string, NonEvmOutcome | Error, boolean]>([
  ["is down", networkFault, true],
  ["has pruned it", pruned, true],
  ["does not know it", unseen, true],
  ["shows it", pending, false],
])(
  "new bytes after an attempt that two of three endpoints report as dead and the third %s",
  async (_, thirdOutcome, isPrepared) => {
    const prepared = preparedAfter(
      { prepare: attempt, outcome: dead },
      { outcome: dead },
      { outcome: thirdOutcome },
    );
    if (isPrepared) expect(await prepared).toEqual(attempt);
    else await expect(prepared).rejects.toMatchObject({ kind: "inconsistent" });
  },
);

test("an endpoint that has pruned an earlier attempt is replaced by one that has not", async () => {
  const behaviors = [
    { prepare: pruned, outcome: pruned },
    { prepare: attempt, outcome: dead },
    { outcome: dead },
  ];
  expect(await preparedAfter(...behaviors)).toEqual(attempt);
});

test("with rpcQuorum 1, one of two endpoints does not sign new bytes after an attempt that it alone reports as dead", async () => {
  const { connection } = chainWith(1, [{ prepare: networkFault }, { prepare: attempt, outcome: dead }]);
  const paying = await connection.withKey(`0x${"01".repeat(32)}`);
  await expect(paying.prepare(payment, [earlier], [])).rejects.toMatchObject({ kind: "inconsistent" });
});

test("bytes that conflict with an earlier attempt need no agreement about it", async () => {
  const first: Behavior = { prepare: attempt, outcome: pending, conflicts: true };
  expect(await preparedAfter(first, { outcome: networkFault })).toEqual(attempt);
});

test("an endpoint that contradicts a payment is not replaced by one that does not", async () => {
  const prepareAfter = async (first: Error) => {
    const { connection } = chainOf({ prepare: first }, { prepare: attempt });
    return await (await connection.withKey(`0x${"01".repeat(32)}`)).prepare(payment, [], []);
  };
  await expect(prepareAfter(contradicted)).rejects.toBe(contradicted);
  expect(await prepareAfter(networkFault)).toEqual(attempt);
});
