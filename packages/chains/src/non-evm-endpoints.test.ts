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
import { connectedTogether } from "./non-evm-endpoints.ts";

afterEach(() => void vi.useRealTimers());

const down = new RpcFault({ kind: "network", method: "call", reason: "refused" });
const contradicted = new RpcFault({ kind: "inconsistent", method: "prepare", reason: "may still pay" });
const refusal = new NodeRefusal({ method: "call", nodeCode: -8, nodeText: "no", nodeData: undefined });
const attempt: NonEvmAttempt = { raw: "0x01", txId: `0x${"01".repeat(32)}`, fee: 1n, madeAtMs: 1 };
const earlier: NonEvmAttempt = { ...attempt, raw: "0x02", txId: `0x${"02".repeat(32)}` };
const block = { number: 7n, hash: `0x${"07".repeat(32)}` } as const;

interface Behavior {
  balance?: bigint | Error;
  outcome?: NonEvmOutcome | Error | Promise<NonEvmOutcome>;
  send?: "sent" | { refused: string } | Error | Promise<"sent">;
  head?: NonEvmHead;
  headFault?: Error;
  prepare?: NonEvmAttempt | Error;
  /** What it prepares conflicts with every earlier attempt. */
  conflicts?: true;
}

/** Endpoints that answer as the test says, together. */
function chainOf(...behaviors: readonly Behavior[]) {
  let nowMs = 0;
  const asked: number[] = [];
  const closed: number[] = [];
  const answer = async <T>(at: number, value: T | Promise<T> | Error | undefined): Promise<T> => {
    asked.push(at);
    if (value === undefined) throw down;
    if (value instanceof Error) throw value;
    return await value;
  };
  const connections = behaviors.map((behavior, at) => {
    const connection = {
      balances: async () => new Map([["0x", await answer(at, behavior.balance)]]),
      outcome: async () => await answer(at, behavior.outcome),
      send: async () => await answer(at, behavior.send),
      prepare: async () => await answer(at, behavior.prepare),
      ...(behavior.conflicts && { conflict: () => true }),
      ...(behavior.head !== undefined && {
        head: async () => {
          if (behavior.headFault !== undefined) throw behavior.headFault;
          return await Promise.resolve(behavior.head ?? { position: 0n });
        },
      }),
      close: async () => await Promise.resolve(void closed.push(at)),
    } as unknown as PayingConnection;
    return { ...connection, withKey: () => connection } as unknown as OpenConnection;
  });
  const order: EndpointOrder = createEndpointOrder(
    behaviors.map((_, at) => `node${at}`),
    () => nowMs,
  );
  const together = connectedTogether(connections as unknown as [OpenConnection], order);
  return {
    together,
    closed,
    forward: (ms: number) => void (nowMs += ms),
    /** The endpoints that were asked since the last call of this. */
    asked: () => asked.splice(0),
    states: () => together.endpoints?.().map(({ state, isLead }) => (isLead ? `${state}, lead` : state)),
  };
}

test("reads go to the first endpoint that works; one that failed is asked last for half a minute", async () => {
  const first: Behavior = { balance: down };
  const { together, forward, asked, states } = chainOf(first, { balance: 5n });
  expect(await together.balances([])).toEqual(new Map([["0x", 5n]]));
  expect(asked()).toEqual([0, 1]);
  expect(states()).toEqual(["failing", "ok, lead"]);
  first.balance = 6n;
  expect(await together.balances([])).toEqual(new Map([["0x", 5n]]));
  expect(asked()).toEqual([1]);
  forward(30_001);
  expect(await together.balances([])).toEqual(new Map([["0x", 6n]]));
  expect(states()).toEqual(["ok, lead", "ok"]);
});

test("when every endpoint fails, the fault of the first one is thrown", async () => {
  const { together, asked } = chainOf({ balance: down }, { balance: contradicted });
  await expect(together.balances([])).rejects.toBe(down);
  expect(asked()).toEqual([0, 1]);
});

test("an endpoint that refuses a request is not passed over, and an error of our own ends the call", async () => {
  const { together, asked, states } = chainOf({ balance: refusal }, { balance: 5n });
  await together.balances([]);
  expect(states()).toEqual(["ok, lead", "ok"]);
  asked();
  const broken = chainOf({ balance: new TypeError("a bug") }, { balance: 5n });
  await expect(broken.together.balances([])).rejects.toThrow("a bug");
  expect(broken.asked()).toEqual([0]);
});

test.each<[string, readonly Behavior[], unknown]>([
  ["one accepts", [{ send: down }, { send: { refused: "spent" } }, { send: "sent" }], "sent"],
  ["none accepts and one refuses", [{ send: down }, { send: { refused: "spent" } }], { refused: "spent" }],
])("a payment is sent to all endpoints: %s", async (_, behaviors, expected) => {
  const { together, asked } = chainOf(...behaviors);
  expect(await together.send(attempt)).toEqual(expected);
  expect(asked()).toHaveLength(behaviors.length);
});

test("a payment that no endpoint takes is a fault", async () => {
  await expect(chainOf({ send: down }, { send: down }).together.send(attempt)).rejects.toBe(down);
});

test("a payment is sent once one endpoint accepts it; closing waits for the others", async () => {
  const late = Promise.withResolvers<"sent">();
  const { together, closed, states } = chainOf({ send: late.promise }, { send: "sent" });
  expect(await together.send(attempt)).toBe("sent");
  const closing = together.close();
  await Promise.resolve();
  expect(closed).toEqual([]);
  late.reject(down);
  await closing;
  expect(closed).toEqual([0, 1]);
  expect(states()).toEqual(["failing", "ok, lead"]);
});

const dead: NonEvmOutcome = { kind: "dead", reason: "expired" };
const proven: NonEvmOutcome = { kind: "dead", reason: "another one was final", isProven: true };
const unseen: NonEvmOutcome = { kind: "unseen" };
const pending: NonEvmOutcome = { kind: "pending" };
const mined: NonEvmOutcome = { kind: "mined", block };
const final: NonEvmOutcome = { kind: "final", block };

test.each<[string, readonly (NonEvmOutcome | Error)[], NonEvmOutcome]>([
  ["dead and final", [dead, final], final],
  ["dead and pending", [dead, pending], pending],
  ["dead and unseen", [dead, unseen], unseen],
  ["dead from all", [dead, dead, dead], dead],
  ["dead, and no answer of one that may know better", [dead, dead, down], unseen],
  ["no answer of the first one, and dead", [down, dead], unseen],
  ["proof that it is dead, and no answer", [proven, down], proven],
  ["proof that it is dead, and unseen", [proven, unseen], unseen],
  ["proof that it is dead, and final", [proven, final], final],
  ["unseen and dead", [unseen, dead], unseen],
  ["unseen and pending", [unseen, pending], pending],
  ["pending and mined", [pending, unseen, mined], mined],
  ["unseen, mined and final", [unseen, mined, final], final],
  ["unseen, and no answer", [unseen, down], unseen],
  ["unseen, a contradiction and final", [unseen, contradicted, final], final],
])("the outcome of a payment is the most advanced one: %s", async (_, outcomes, expected) => {
  const { together } = chainOf(...outcomes.map((outcome) => ({ outcome })));
  expect(await together.outcome(attempt)).toEqual(expected);
});

test.each<[string, readonly (NonEvmOutcome | Error)[]]>([
  ["first", [contradicted, dead]],
  ["later", [dead, contradicted]],
  ["among others", [unseen, pending, contradicted]],
])("an endpoint that contradicts itself about a payment is not passed over: %s", async (_, outcomes) => {
  const { together } = chainOf(...outcomes.map((outcome) => ({ outcome })));
  await expect(together.outcome(attempt)).rejects.toBe(contradicted);
});

test("a payment does not leave its block when the endpoint that showed it fails and the others are behind", async () => {
  vi.useFakeTimers();
  const first: Behavior = { outcome: mined, head: { position: 7n, number: 7n } };
  const second: Behavior = { outcome: unseen, head: { position: 6n, number: 6n } };
  const { together } = chainOf(first, second);
  expect(await together.outcome(attempt)).toEqual(mined);
  first.outcome = down;
  await expect(together.outcome(attempt)).rejects.toMatchObject({ kind: "inconsistent" });
  second.head = { position: 7n, number: 7n };
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await together.outcome(attempt)).toEqual(unseen);
  await together.close();
});

test("an endpoint that hangs delays an answer by two seconds and is not asked again meanwhile", async () => {
  vi.useFakeTimers();
  const late = Promise.withResolvers<NonEvmOutcome>();
  const { together, asked } = chainOf({ outcome: pending }, { outcome: late.promise });
  for (let n = 0; n < 2; n++) {
    const outcome = together.outcome(attempt);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await outcome).toEqual(pending);
  }
  expect(asked()).toEqual([0, 1, 0]);
  const outcome = together.outcome(attempt);
  late.resolve(final);
  expect(await outcome).toEqual(final);
});

test("an endpoint that stands still is asked last until it catches up", async () => {
  vi.useFakeTimers();
  const first: Behavior = { balance: 1n, head: { position: 5n } };
  const second: Behavior = { balance: 2n, head: { position: 5n } };
  const { together, forward, states } = chainOf(first, second);
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
  expect(await together.balances([])).toEqual(new Map([["0x", 2n]]));
  first.head = { position: 6n };
  await pass();
  expect(states()).toEqual(["ok, lead", "ok"]);
  await together.close();
});

test.each<[string, number, "keeps it" | "takes it back" | "fails"]>([
  ["of three, and keeps showing it", 3, "keeps it"],
  ["of three, and takes it back", 3, "takes it back"],
  ["of three, and then fails", 3, "fails"],
  ["of two, and takes it back", 2, "takes it back"],
  ["of two, and then fails", 2, "fails"],
])("one endpoint that shows an absurd head does not make the others lag: one %s", async (_, count, then) => {
  vi.useFakeTimers();
  const head = { position: 5n };
  const absurd: Behavior = { balance: 1n, head: { position: 10n ** 12n } };
  const honest = Array.from({ length: count - 1 }, () => ({ balance: 2n, head }));
  const { together, forward, states } = chainOf(...honest, absurd);
  await vi.advanceTimersByTimeAsync(0);
  if (then === "takes it back") absurd.head = head;
  if (then === "fails") absurd.headFault = down;
  for (let n = 0; n < 4; n++) {
    forward(15_000);
    await vi.advanceTimersByTimeAsync(15_000);
  }
  expect(states()?.slice(0, -1)).toEqual(["ok, lead", "ok"].slice(0, count - 1));
  await together.close();
});

const payment = { recipient: "0x", currency: "0x", amount: 1n, orderId: undefined } as const;

const preparedAfter = async (...behaviors: readonly Behavior[]): Promise<NonEvmAttempt> => {
  const { together } = chainOf(...behaviors);
  return await (await together.withKey(`0x${"01".repeat(32)}`)).prepare(payment, [earlier], []);
};

test.each<[string, NonEvmOutcome | Error, NonEvmOutcome | Error, boolean]>([
  ["report as dead", dead, dead, true],
  ["report differently: one does not know it", dead, unseen, false],
  ["report differently: one shows it", dead, pending, false],
  ["report differently: the one that signs now does not know it", unseen, dead, false],
  ["cannot all be asked about", dead, down, false],
])("new bytes after an attempt that the endpoints %s", async (_, own, other, may) => {
  const behaviors = [{ prepare: attempt, outcome: own }, { outcome: other }];
  if (may) expect(await preparedAfter(...behaviors)).toEqual(attempt);
  else await expect(preparedAfter(...behaviors)).rejects.toMatchObject({ kind: "inconsistent" });
});

test("bytes that conflict with an earlier attempt need no agreement about it", async () => {
  const first: Behavior = { prepare: attempt, outcome: pending, conflicts: true };
  expect(await preparedAfter(first, { outcome: down })).toEqual(attempt);
});

test("an endpoint that contradicts a payment is not replaced by one that does not", async () => {
  const pays = async (first: Error) => {
    const { together } = chainOf({ prepare: first }, { prepare: attempt });
    return await (await together.withKey(`0x${"01".repeat(32)}`)).prepare(payment, [], []);
  };
  await expect(pays(contradicted)).rejects.toBe(contradicted);
  expect(await pays(down)).toEqual(attempt);
});
