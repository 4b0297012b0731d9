import { RpcFault } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import { expect, test } from "vitest";
import { createEndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmTransaction, OpenConnection } from "./non-evm-connection.ts";
import { combineConnections } from "./non-evm-endpoints.ts";

const networkFault = new RpcFault({ kind: "network", method: "call", reason: "refused" });
const pruned = new RpcFault({ kind: "pruned", method: "getBlock", reason: "no longer has the block" });
const hash = (number: number) => `0x${number.toString(16).padStart(64, "0")}` as const;

function aDeposit(block: number, fields: Partial<DepositFact> = {}): DepositFact {
  return {
    txHash: hash(block),
    ordinal: 0,
    logIndex: 0,
    blockNumber: BigInt(block),
    blockHash: hash(0xb00 + block),
    depositor: "0x0d",
    sender: "0x0e",
    currency: "0x0c",
    amount: 100n,
    id: hash(0x1d),
    timestamp: BigInt(block) * 10n,
    ...fields,
  };
}

const deposit = aDeposit(7);
const larger = aDeposit(7, { amount: 100_000n });

/** What an endpoint shows: deposits in blocks, of which the newest is 9. */
interface Behavior {
  deposits?: readonly DepositFact[];
  /** Answers about single transactions; it lists them nevertheless. */
  transaction?: NonEvmTransaction | Error;
  isDown?: boolean;
  /** It lists deposits once this is resolved. */
  listsAfter?: Promise<void>;
}

/** Endpoints with blocks 1 to 9; a cursor is the last block that was read. */
function chainOf(behaviors: readonly Behavior[], quorum = Math.floor(behaviors.length / 2) + 1) {
  let nowMs = 0;
  const disagreements: [string, readonly number[]][] = [];
  const queriedEndpoints: number[] = [];
  const reads = behaviors.map(() => 0);
  const upTo = (number: bigint) => ({ number, hash: hash(0xb00), timestamp: number * 10n });
  const connections = behaviors.map((behavior, place) => {
    const shown = () => {
      if (behavior.isDown === true) throw networkFault;
      return behavior.deposits ?? [];
    };
    return {
      arrivals: async (cursor: string | undefined) => {
        reads[place] = (reads[place] ?? 0) + 1;
        await behavior.listsAfter;
        return {
          deposits: await Promise.resolve(shown().filter((fact) => fact.blockNumber > BigInt(cursor ?? 0))),
          cursor: "9",
          upTo: upTo(9n),
          ...(cursor === undefined && { startedAt: "0" }),
        };
      },
      arrivalsOf: async (id: string) => {
        queriedEndpoints.push(place);
        const deposits = await Promise.resolve(shown().filter(({ txHash }) => txHash === id));
        if (behavior.transaction instanceof Error) throw behavior.transaction;
        if (behavior.transaction !== undefined) return behavior.transaction;
        return deposits.length === 0 ? { kind: "absent" } : { kind: "final", deposits, upTo: upTo(9n) };
      },
      withKey: () => undefined,
    } as unknown as OpenConnection;
  });
  const order = createEndpointOrder(
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
    forward: (ms: number) => void (nowMs += ms),
    /** How often each endpoint read deposits. */
    reads: () => reads,
    /** The endpoints that were queried about transactions since the last call of this. */
    queried: () => queriedEndpoints.splice(0),
  };
}

const shows = (...deposits: readonly DepositFact[]): Behavior => ({ deposits });
const silent: Behavior = { isDown: true };

test.each<[string, readonly Behavior[], readonly DepositFact[]]>([
  ["all show it", [shows(deposit), shows(deposit), shows(deposit)], [deposit]],
  ["two of three show it", [shows(deposit), shows(), shows(deposit)], [deposit]],
  ["two of three show it, and the third is down", [shows(deposit), silent, shows(deposit)], [deposit]],
  ["the first is down", [silent, shows(deposit), shows(deposit)], [deposit]],
  ["both of two show it", [shows(deposit), shows(deposit)], [deposit]],
  ["a single one shows it", [shows(deposit)], [deposit]],
  ["the first shows another amount", [shows(larger), shows(deposit), shows(deposit)], [deposit]],
  [
    "the first shows a deposit in a transaction without one",
    [
      shows(deposit),
      { transaction: { kind: "final", deposits: [], upTo: { number: 7n, hash: "0x", timestamp: 1n } } },
      { transaction: { kind: "final", deposits: [], upTo: { number: 7n, hash: "0x", timestamp: 1n } } },
    ],
    [],
  ],
  ["the first hides it", [shows(), shows(deposit), shows(deposit)], []],
])("a deposit counts when a quorum of endpoints shows it: %s", async (_, behaviors, expected) => {
  const read = await chainOf(behaviors).connection.arrivals("5");
  expect(read).toMatchObject({ deposits: expected, cursor: "9" });
});

test.each<[string, readonly Behavior[]]>([
  ["the others do not know it", [shows(deposit), shows(), shows()]],
  ["the others are down", [shows(deposit), silent, silent]],
  ["the others do not show it as final", [shows(deposit), { transaction: { kind: "notFinal" } }, silent]],
  ["the others have pruned it", [shows(deposit), { transaction: pruned }, { transaction: pruned }]],
  ["of two, the other one is down", [shows(deposit), silent]],
  ["of two, the other one does not know it", [shows(deposit), shows()]],
  ["of two, the other one shows another amount", [shows(deposit), shows(larger)]],
  ["each of three shows another amount", [shows(deposit), shows(larger), shows(aDeposit(7, { amount: 1n }))]],
  ["another block", [shows(deposit), shows(aDeposit(7, { blockHash: hash(1) })), silent]],
  ["another order", [shows(deposit), shows(aDeposit(7, { id: hash(2) })), silent]],
  ["another depositor", [shows(deposit), shows(aDeposit(7, { depositor: "0x01" })), silent]],
  ["another currency", [shows(deposit), shows(aDeposit(7, { currency: "0x01" })), silent]],
  ["another time", [shows(deposit), shows(aDeposit(7, { timestamp: 1n })), silent]],
])("without a quorum, a deposit waits and nothing counts as read from it on: %s", async (_, behaviors) => {
  const { connection } = chainOf(behaviors);
  const read = await connection.arrivals("5");
  expect(read).toMatchObject({ deposits: [], cursor: "5", unreadSince: 70n });
  expect(read.upTo).toMatchObject({ number: 6n, timestamp: 69n });
});

test("compares transfers that the hub maps to orders regardless of what the hub has answered so far", async () => {
  const [unmapped, mapped] = [aDeposit(7, { nonce: 3n, id: undefined }), aDeposit(7, { nonce: 3n })];
  const { connection } = chainOf([shows(unmapped), shows(mapped)]);
  expect((await connection.arrivals("5")).deposits).toEqual([unmapped]);
});

test("a waiting deposit does not delay the others, and is reported once a second endpoint shows it", async () => {
  const otherDeposit = aDeposit(8);
  const second: Behavior = shows(otherDeposit);
  const { connection, forward } = chainOf([shows(deposit, otherDeposit), second, silent]);
  expect(await connection.arrivals("5")).toMatchObject({ deposits: [otherDeposit], cursor: "5" });
  second.deposits = [deposit, otherDeposit];
  forward(1_000);
  expect(await connection.arrivals("5")).toMatchObject({ deposits: [deposit, otherDeposit], cursor: "9" });
});

test("with two endpoints, a deposit waits while one of them is down, and counts when it returns", async () => {
  const second: Behavior = { deposits: [deposit], isDown: true };
  const { connection, forward, disagreements } = chainOf([shows(deposit), second]);
  for (let waitedMs = 0; waitedMs < 120_000; waitedMs += 10_000) {
    const read = await connection.arrivals("5");
    expect(read).toMatchObject({ deposits: [], cursor: "5" });
    expect(read.fault?.kind).toBe(waitedMs < 30_000 ? undefined : "inconsistent");
    forward(10_000);
  }
  expect(disagreements).toEqual([]);
  second.isDown = false;
  forward(15_000);
  const read = await connection.arrivals("5");
  expect(read).toMatchObject({ deposits: [deposit], cursor: "9" });
  expect(read.fault).toBeUndefined();
});

test("a process that was killed while a deposit waited reads it again, also after the first reading of a chain", async () => {
  const endpoints = [shows(deposit), { deposits: [deposit], isDown: true }];
  const { cursor } = await chainOf(endpoints).connection.arrivals(undefined);
  expect(cursor).toBe("0");
  endpoints[1] = shows(deposit);
  expect((await chainOf(endpoints).connection.arrivals(cursor)).deposits).toEqual([deposit]);
});

test("reports an endpoint that invents a deposit after half a minute, and another one leads", async () => {
  const liar = shows(deposit, aDeposit(8));
  const honest = shows(aDeposit(8));
  const { connection, disagreements, forward } = chainOf([liar, honest, honest]);
  for (let waitedMs = 0; waitedMs < 30_000; waitedMs += 10_000) {
    expect(await connection.arrivals("5")).toMatchObject({ deposits: [aDeposit(8)], cursor: "5" });
    expect(disagreements).toEqual([]);
    forward(10_000);
  }
  expect(await connection.arrivals("5")).toMatchObject({ deposits: [aDeposit(8)], cursor: "9" });
  expect(disagreements).toEqual([["deposits", [0]]]);
  expect(connection.endpoints?.().map(({ isLead }) => isLead)).toEqual([false, true, false]);
});

test("does not switch endpoints because the quorum has pruned a deposit, even after a long wait", async () => {
  const prunedBehavior: Behavior = { transaction: pruned };
  const { connection, forward } = chainOf([shows(deposit), prunedBehavior, prunedBehavior]);
  for (let waitedMs = 0; waitedMs < 120_000; waitedMs += 10_000) {
    expect(await connection.arrivals("5")).toMatchObject({ deposits: [], cursor: "5" });
    forward(10_000);
  }
});

test("reports an endpoint with a different amount immediately", async () => {
  const { connection, disagreements } = chainOf([shows(deposit), shows(larger), shows(deposit)]);
  await connection.arrivals("5");
  await expect.poll(() => disagreements).toEqual([["deposits", [1]]]);
});

test("queries the other endpoints once per deposit, and rarely while it waits", async () => {
  const third: Behavior = { isDown: true };
  const { connection, forward, queried } = chainOf([shows(deposit, aDeposit(8)), shows(aDeposit(8)), third]);
  await connection.arrivals("5");
  expect(queried().toSorted()).toEqual([1, 1, 2, 2]);
  // Polled every second for two minutes: only the waiting deposit is queried again.
  for (let polls = 0; polls < 120; polls++) {
    forward(1_000);
    await connection.arrivals("5");
  }
  expect(queried().length).toBeLessThan(40);
  const quiet = chainOf([shows(), shows(), shows()]);
  await quiet.connection.arrivals("5");
  expect(quiet.queried()).toEqual([]);
});

test("a deposit that the lead hides is found by another endpoint within two minutes", async () => {
  const [hidden, shown] = [aDeposit(3), aDeposit(6)];
  const honest = shows(hidden, shown);
  for (const [others, isFound] of [
    [[honest, honest], true],
    [[honest, silent, honest, honest], true],
    [[honest, shows(shown)], false],
    [[honest], false],
  ] as const) {
    const { connection, forward, disagreements } = chainOf([shows(shown), ...others]);
    let cursor: string | undefined = "0";
    const found: DepositFact[] = [];
    for (let polls = 0; polls < 30; polls++) {
      const read = await connection.arrivals(cursor);
      cursor = read.cursor;
      found.push(...read.deposits);
      forward(10_000);
    }
    expect([...new Set(found)]).toEqual(isFound ? [shown, hidden] : [shown]);
    if (isFound) expect(disagreements).toContainEqual(["deposits", [0]]);
  }
});

test("a deposit that the lead hides waits for a quorum", async () => {
  const third: Behavior = { isDown: true };
  const { connection, forward, disagreements } = chainOf([shows(), shows(deposit), third]);
  const pollFor = async (ms: number): Promise<readonly DepositFact[]> => {
    const found: DepositFact[] = [];
    for (let waitedMs = 0; waitedMs < ms; waitedMs += 10_000) {
      found.push(...(await connection.arrivals("5")).deposits);
      forward(10_000);
    }
    return found;
  };
  expect(await pollFor(300_000)).toEqual([]);
  // Without a quorum, it is unknown which of the two is wrong.
  expect(disagreements.length).toBeGreaterThan(0);
  for (const disagreement of disagreements) expect(disagreement).toEqual(["deposits", [0, 1]]);
  third.isDown = false;
  third.deposits = [deposit];
  expect(new Set(await pollFor(150_000))).toEqual(new Set([deposit]));
});

test("an endpoint that hangs in its second reading does not delay what the lead shows", async () => {
  const late = Promise.withResolvers<void>();
  const second: Behavior = { deposits: [deposit], listsAfter: late.promise };
  const { connection, forward } = chainOf([shows(), second, shows(deposit)]);
  await connection.arrivals("5");
  for (let polls = 0; polls < 3; polls++) {
    forward(60_000);
    expect((await connection.arrivals("5")).deposits).toEqual([]);
  }
  late.resolve();
  await expect.poll(async () => (await connection.arrivals("5")).deposits).toEqual([deposit]);
});

test("a second endpoint reads what the lead has read once a minute", async () => {
  const { connection, forward, reads } = chainOf([shows(), shows(), shows()]);
  for (let polls = 0; polls < 300; polls++) {
    await connection.arrivals("5");
    forward(1_000);
  }
  expect(reads()).toEqual([300, 2, 2]);
});

test("trusts a single endpoint, or the first with rpcQuorum 1, without querying others", async () => {
  for (const { connection, queried } of [
    chainOf([shows(deposit)]),
    chainOf([shows(deposit), shows(), shows()], 1),
  ]) {
    expect((await connection.arrivals("5")).deposits).toEqual([deposit]);
    expect(queried()).toEqual([]);
  }
});

test.each<[string, readonly Behavior[], string, readonly DepositFact[]]>([
  ["a quorum shows it", [shows(), shows(deposit), shows(deposit)], "final", [deposit]],
  ["one of three shows it", [shows(deposit), shows(), shows()], "notFinal", []],
  ["one of three shows another amount", [shows(larger), shows(deposit), shows(deposit)], "final", [deposit]],
  ["none shows it", [shows(), shows(), silent], "absent", []],
])("a reported transaction needs the same quorum: %s", async (_, behaviors, kind, deposits) => {
  const transaction = await chainOf(behaviors).connection.arrivalsOf(deposit.txHash);
  expect(transaction.kind).toBe(kind);
  expect(transaction.kind === "final" ? transaction.deposits : []).toEqual(deposits);
});

test("a reported transaction is neither absent nor present while too few endpoints answer", async () => {
  const { connection } = chainOf([shows(deposit), silent]);
  await expect(connection.arrivalsOf(deposit.txHash)).rejects.toBe(networkFault);
});
