import type { Hex } from "@causeway/domain";
import { RpcFault } from "@causeway/families";
import { afterEach, expect, test, vi } from "vitest";
import { createEndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmDepositAddresses, OpenConnection } from "./non-evm-connection.ts";
import { combineConnections } from "./non-evm-endpoints.ts";

afterEach(() => void vi.useRealTimers());

const networkFault = new RpcFault({ kind: "network", method: "call", reason: "refused" });
const account: Hex = "0x0a";
const currency: Hex = "0x0c";
const key = { id: `0x${"1d".repeat(32)}`, depositor: "0x0d", strict: true } as const;
const sweep = { raws: ["0x01"], minedTxId: undefined } as const;

/** What an endpoint shows at the address. */
interface Behavior {
  /** Undefined: it could not be read. */
  amount?: bigint | undefined;
  atBlock?: bigint;
  problem?: string;
  isDown?: boolean;
  /** It answers once this is resolved. */
  answersAfter?: Promise<void>;
}

function chainOf(behaviors: readonly Behavior[], quorum = Math.floor(behaviors.length / 2) + 1) {
  let nowMs = 0;
  const disagreements: [string, readonly number[]][] = [];
  const connections = behaviors.map((behavior) => {
    const shown = async () => {
      await behavior.answersAfter;
      if (behavior.isDown === true) throw networkFault;
      return { amount: behavior.amount, atBlock: behavior.atBlock ?? 7n };
    };
    const depositAddresses: Partial<NonEvmDepositAddresses> = {
      problem: async () => {
        await shown();
        return behavior.problem;
      },
      newest: async () => {
        const { atBlock } = await shown();
        return { number: atBlock, hash: `0x${atBlock.toString(16)}` };
      },
      balances: async () => {
        const { amount, atBlock } = await shown();
        return { atBlock, balances: [{ account, currency, amount }] };
      },
      sweepable: async () => (await shown()).amount ?? 0n,
    };
    return { depositAddresses, withKey: () => undefined } as unknown as OpenConnection;
  });
  const order = createEndpointOrder(
    behaviors.map((_, index) => `node${index}`),
    () => nowMs,
  );
  const { depositAddresses: addresses } = combineConnections(
    connections as unknown as [OpenConnection],
    order,
    {
      quorum,
      onDisagreement: (question, places) => void disagreements.push([question, places]),
      now: () => nowMs,
    },
  );
  if (addresses === undefined) throw new Error("no deposit addresses");
  return {
    addresses,
    disagreements,
    forward: (ms: number) => void (nowMs += ms),
    readBalance: async (sweeps: readonly (typeof sweep)[] = []) => {
      const { atBlock, balances: held } = await addresses.balances(
        [{ address: account, sweeps }],
        [currency],
      );
      return { atBlock, amount: held[0]?.amount };
    },
  };
}

const shows = (amount: bigint | undefined, atBlock = 7n): Behavior => ({ amount, atBlock });
const silent: Behavior = { isDown: true };

test.each<[string, readonly Behavior[], bigint | undefined, bigint]>([
  ["all show it", [shows(5n), shows(5n), shows(5n)], 5n, 7n],
  ["the first invents it", [shows(5n), shows(0n), shows(0n)], 0n, 7n],
  ["the first invents more", [shows(900n), shows(5n), shows(5n)], 5n, 7n],
  ["the first hides it", [shows(0n), shows(5n), shows(5n)], 5n, 7n],
  ["the last hides it", [shows(5n), shows(5n), shows(0n)], 5n, 7n],
  ["the first is silent", [silent, shows(5n), shows(5n)], 5n, 7n],
  ["the first could not read it", [shows(undefined), shows(5n), shows(5n)], 5n, 7n],
  ["the first lags", [shows(0n, 6n), shows(5n), shows(5n)], 5n, 7n],
  ["the second lags", [shows(5n), shows(0n, 1n), shows(5n)], 5n, 7n],
  ["the first claims a later block", [shows(5n, 900n), shows(5n), shows(5n)], 5n, 7n],
  ["the first claims an earlier block", [shows(5n, 1n), shows(5n), shows(5n)], 5n, 7n],
  ["each is at another block", [shows(5n, 8n), shows(5n, 6n), shows(5n, 7n)], 5n, 7n],
  ["one has it already", [shows(5n, 8n), shows(0n, 6n), shows(0n, 7n)], undefined, 7n],
  ["one has it already, and the others are at one block", [shows(5n, 8n), shows(0n), shows(0n)], 0n, 7n],
  ["one of three invents it, and another one is silent", [shows(5n), shows(0n), silent], undefined, 7n],
  ["both of two show it", [shows(5n), shows(5n)], 5n, 7n],
  ["of two, one invents it", [shows(5n), shows(0n)], undefined, 7n],
  ["of two, one lags", [shows(5n), shows(0n, 6n)], undefined, 6n],
  [
    "one lags behind a final sweep, and one hides the sweep",
    [shows(0n), shows(5n, 6n), shows(5n)],
    undefined,
    7n,
  ],
  ["a single one shows it", [shows(5n)], 5n, 7n],
])("a quorum decides what an address holds: %s", async (_, behaviors, amount, atBlock) => {
  expect(await chainOf(behaviors).readBalance()).toEqual({ atBlock, amount });
});

test.each<[string, readonly Behavior[], bigint | undefined]>([
  ["all show the same", [shows(5n, 8n), shows(5n, 6n), shows(5n)], 5n],
  ["a quorum shows the same at one block", [shows(9n, 8n), shows(5n), shows(5n)], 5n],
  ["two show the same at different blocks", [shows(5n, 8n), shows(9n), shows(5n, 6n)], undefined],
])("while it is swept, what an address holds must be of one block: %s", async (_, behaviors, amount) => {
  expect(await chainOf(behaviors).readBalance([sweep])).toEqual({ atBlock: 7n, amount });
});

test.each<[string, readonly Behavior[], bigint]>([
  ["all show it", [shows(5n), shows(5n), shows(5n)], 5n],
  ["the first invents it", [shows(900n), shows(0n), shows(0n)], 0n],
  ["the first invents more, and the last lags", [shows(900n), shows(5n), shows(0n)], 5n],
  ["the first hides it", [shows(0n), shows(5n), shows(5n)], 5n],
  ["the first is silent", [silent, shows(5n), shows(5n)], 5n],
  ["of two, one invents it", [shows(900n), shows(5n)], 5n],
  ["a single one shows it", [shows(5n)], 5n],
])("a quorum decides what a sweep can move: %s", async (_, behaviors, amount) => {
  expect(await chainOf(behaviors).addresses.sweepable(key, currency, [])).toBe(amount);
});

test("without a quorum, nothing is read at addresses", async () => {
  const { readBalance: held, addresses } = chainOf([shows(5n), silent, silent]);
  await expect(held()).rejects.toBe(networkFault);
  await expect(addresses.sweepable(key, currency, [])).rejects.toBe(networkFault);
  await expect(addresses.newest()).rejects.toBe(networkFault);
});

test("one endpoint alone neither hides nor invents a problem of the program", async () => {
  const withProblem: Behavior = { problem: "another program" };
  const problemOf = async (...behaviors: readonly Behavior[]) =>
    await chainOf(behaviors).addresses.problem?.();
  expect(await problemOf({}, withProblem, withProblem)).toBe("another program");
  expect(await problemOf(withProblem, {}, {})).toBeUndefined();
  await expect(problemOf({}, withProblem)).rejects.toMatchObject({ kind: "inconsistent" });
  expect(await problemOf(withProblem)).toBe("another program");
});

test("the newest block is one that a quorum has reached", async () => {
  const newestOf = async (...blocks: readonly bigint[]) =>
    (await chainOf(blocks.map((atBlock) => ({ atBlock }))).addresses.newest()).number;
  expect(await newestOf(900n, 7n, 8n)).toBe(8n);
  expect(await newestOf(1n, 7n, 8n)).toBe(7n);
  expect(await newestOf(9n, 8n)).toBe(8n);
});

test("an endpoint that hangs delays a balance by one second", async () => {
  vi.useFakeTimers();
  const late = Promise.withResolvers<void>();
  const { readBalance: held } = chainOf([
    { ...shows(5n), answersAfter: late.promise },
    shows(5n, 7n),
    shows(5n, 8n),
  ]);
  const read = held();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await read).toEqual({ atBlock: 7n, amount: 5n });
});

test("reports an endpoint that shows another balance than the others for half a minute", async () => {
  const { readBalance: held, disagreements, forward } = chainOf([shows(5n), shows(0n), shows(0n)]);
  await held();
  forward(15_000);
  await held();
  expect(disagreements).toEqual([]);
  forward(15_000);
  await held();
  expect(disagreements).toEqual([["balances", [0]]]);
});

test("with rpcQuorum 1, the first endpoint that answers is trusted", async () => {
  expect(await chainOf([silent, shows(5n), shows(0n)], 1).readBalance()).toEqual({ atBlock: 7n, amount: 5n });
});
