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
}

function chainOf(behaviors: readonly Behavior[]) {
  const connections = behaviors.map((behavior) => {
    const answer = async <T>(value: T): Promise<T> => {
      await Promise.resolve();
      if (behavior.isDown === true) throw networkFault;
      return value;
    };
    return {
      arrivals: async () => {
        const number = behavior.readsTo ?? behavior.head ?? 0n;
        return await answer({
          deposits: [],
          cursor: String(number),
          upTo: { number, hash: "0x0b", timestamp: number },
        });
      },
      head: async () =>
        await answer<NonEvmHead>({
          position: behavior.head ?? 1n,
          ...(behavior.head !== undefined && { number: behavior.head }),
        }),
      withKey: () => undefined,
      close: async () => await Promise.resolve(),
    } as unknown as OpenConnection;
  });
  const order = createEndpointOrder(behaviors.map((_, index) => `node${index}`));
  return combineConnections(connections as unknown as [OpenConnection], order, {
    quorum: Math.floor(behaviors.length / 2) + 1,
    onDisagreement: () => {},
    now: () => performance.now(),
  });
}

const endpointAt = (head: bigint): Behavior => ({ head });
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
  [
    "endpoints show no block numbers",
    [{ head: undefined, readsTo: 77n }, { head: undefined }, { head: undefined }],
    "77",
  ],
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
