import { RpcFault } from "@causeway/families";
import { expect, test } from "vitest";
import { createEndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmHead, OpenConnection } from "./non-evm-connection.ts";
import { combineConnections } from "./non-evm-endpoints.ts";

const networkFault = new RpcFault({ kind: "network", method: "call", reason: "refused" });

/** The newest block of an endpoint, and the block up to which it reads. */
interface Behavior {
  head: bigint | undefined;
  readsTo?: bigint;
  isDown?: boolean;
  /** Without a block number, the endpoint shows this clock and reads up to it; seconds. */
  clock?: bigint;
}

function chainOf(behaviors: readonly Behavior[], now = () => performance.now()) {
  const connections = behaviors.map((behavior) => {
    const answer = async <T>(value: T): Promise<T> => {
      await Promise.resolve();
      if (behavior.isDown === true) throw networkFault;
      return value;
    };
    return {
      arrivals: async () => {
        const number = behavior.readsTo ?? behavior.head ?? 0n;
        const timestamp = behavior.clock ?? number;
        return await answer({
          deposits: [],
          cursor: String(timestamp),
          upTo: { number, hash: "0x0b", timestamp },
        });
      },
      head: async () =>
        await answer<NonEvmHead>({
          position: behavior.head ?? (behavior.clock ?? 0n) * 1_000n,
          ...(behavior.head !== undefined && { number: behavior.head }),
        }),
      withKey: () => undefined,
      close: async () => await Promise.resolve(),
    } as unknown as OpenConnection;
  });
  const order = createEndpointOrder(
    behaviors.map((_, index) => `node${index}`),
    now,
  );
  return combineConnections(connections as unknown as [OpenConnection], order, {
    quorum: Math.floor(behaviors.length / 2) + 1,
    onDisagreement: () => {},
    now,
  });
}

const endpointAt = (head: bigint): Behavior => ({ head });
const clock = (seconds: bigint): Behavior => ({ head: undefined, clock: seconds });
const liar: Behavior = { head: 9_000_000n };

test.each<[string, readonly Behavior[], string]>([
  ["the lead is as far as the others", [endpointAt(1_000n), endpointAt(1_000n), endpointAt(1_000n)], "1000"],
  ["the lead is a little ahead", [endpointAt(1_150n), endpointAt(1_000n), endpointAt(990n)], "1150"],
  ["the lead announces and reads too much", [liar, endpointAt(1_000n), endpointAt(1_001n)], "1000"],
  [
    "the lead reads more than it announces",
    [{ head: 1_000n, readsTo: 1_151n }, endpointAt(1_000n), endpointAt(1_000n)],
    "1000",
  ],
  ["all clocks agree", [clock(5_000n), clock(5_000n), clock(5_001n)], "5000"],
  ["the lead's clock is a little ahead", [clock(5_020n), clock(5_000n), clock(4_990n)], "5020"],
  ["the lead's clock is a minute ahead", [clock(5_060n), clock(5_000n), clock(5_001n)], "5000"],
  ["the lead's clock is a minute ahead of two", [clock(5_060n), clock(5_000n)], "5000"],
  ["the lead's clock is a year ahead", [clock(31_541_000n), clock(5_000n), clock(5_001n)], "5000"],
  ["the lead's clock is behind", [clock(4_000n), clock(5_000n), clock(5_001n)], "4000"],
  ["another endpoint's clock is ahead", [clock(5_000n), clock(31_541_000n), clock(5_001n)], "5000"],
])("a cursor never moves past what a quorum has reached: %s", async (_, behaviors, cursor) => {
  const chain = chainOf(behaviors);
  // Once before and once after the heads are known.
  expect((await chain.arrivals("5")).cursor).toBe(cursor);
  expect((await chain.arrivals("5")).cursor).toBe(cursor);
  await chain.close();
});

test("the cursor stays while too few endpoints show the newest block", async () => {
  const others: Behavior[] = [
    { head: 2_000n, isDown: true },
    { head: 2_000n, isDown: true },
  ];
  const chain = chainOf([endpointAt(2_000n), ...others]);
  expect(await chain.arrivals("5")).toMatchObject({
    cursor: "5",
    deposits: [],
    fault: { kind: "inconsistent" },
  });
  await expect(chain.arrivals(undefined)).rejects.toMatchObject({ kind: "inconsistent" });
  for (const otherEndpoint of others) otherEndpoint.isDown = false;
  expect(await chain.arrivals("5")).toMatchObject({ cursor: "2000" });
  await chain.close();
});

test("clocks that were read minutes ago do not hold back what an endpoint reads now", async () => {
  let nowMs = 0;
  const lead = clock(5_000n);
  const others = [clock(5_000n), clock(5_000n)];
  const chain = chainOf([lead, ...others], () => nowMs);
  expect((await chain.arrivals("5")).cursor).toBe("5000");
  for (const other of others) other.isDown = true;
  nowMs += 300_000;
  lead.clock = 5_300n;
  expect((await chain.arrivals("5000")).cursor).toBe("5300");
  lead.clock = 5_400n;
  expect((await chain.arrivals("5300")).cursor).toBe("5300");
  await chain.close();
});

test("a false time is not taken from a reading that moves no cursor", async () => {
  const lead: Behavior = { head: undefined, clock: 90_000n };
  const chain = chainOf([lead, clock(5_000n), clock(5_001n)]);
  expect((await chain.arrivals("90000")).upTo.timestamp).toBe(5_000n);
  await chain.close();
});
