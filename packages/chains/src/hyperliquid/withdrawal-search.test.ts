import {
  encodeHyperliquidAction,
  hyperliquidNonceWindow,
  hyperliquidSigningProfiles,
  MAINNET_USDC_TOKEN_ID,
  type Address,
  type Hex32,
  type HyperliquidAction,
} from "@causeway/domain";
import { expect, test } from "vitest";
import { createFactCache } from "../evm/fact-cache.ts";
import { RpcFault } from "@causeway/families";
import {
  INDEX_LAG_MS,
  readWithdrawal,
  type HyperliquidTransaction,
  type LedgerPage,
  type LedgerTransfer,
  type UnknownEntry,
} from "@causeway/families/hyperliquid";
import type { HyperliquidRpc } from "./rpc.ts";
import { searchExecution } from "./withdrawal-search.ts";

const depository: Address = "0x00000000000000000000000000000000000000d1";
const friend: Address = "0x00000000000000000000000000000000000000a2";
const hash: Hex32 = `0x${"88".repeat(32)}`;
const NONCE = 1_763_761_234_567n;
const { closesAt } = hyperliquidNonceWindow(NONCE);

const rules = {
  network: "Mainnet",
  usdcTokenId: MAINNET_USDC_TOKEN_ID,
  decimalsOf: () => undefined,
  depositories: [depository],
  profile: hyperliquidSigningProfiles.hyperliquid,
};
const action: HyperliquidAction = {
  type: "UsdSend",
  chain: "Mainnet",
  destination: friend,
  amount: "12.5",
  time: NONCE,
};
const payload = readWithdrawal(encodeHyperliquidAction(action), rules);
if ("refusal" in payload) throw new Error(payload.refusal);
const withdrawal = payload;

const executed: HyperliquidTransaction = {
  hash,
  time: closesAt,
  block: 7n,
  user: depository,
  error: undefined,
  action,
  isOpaque: false,
};
const entry: LedgerTransfer = {
  hash,
  time: closesAt,
  kind: "usdSend",
  user: depository,
  destination: friend,
  amount: "12.5",
  nonce: undefined,
};

/**
 * Hyperliquid at this time, with what its index has reported by then; the explorer's newest transactions are
 * unrelated.
 */
function createRpc(
  now: bigint,
  indexed: readonly LedgerTransfer[],
  {
    unknown = [],
    transaction = executed,
  }: Partial<{
    unknown: readonly UnknownEntry[];
    transaction: HyperliquidTransaction;
  }> = {},
): HyperliquidRpc {
  const answers: Partial<HyperliquidRpc> = {
    clock: async () => await Promise.resolve(now),
    transactionsOf: async () => await Promise.resolve([]),
    transaction: async () => await Promise.resolve(transaction),
    ledger: async (_, from, to) => {
      const transfers = indexed.filter(({ time }) => time >= from && time <= to);
      return await Promise.resolve({ size: transfers.length, transfers, unknown });
    },
  };
  return answers as HyperliquidRpc;
}

test("does not cache what an index reported before its delay was over", async () => {
  const cachedPages = createFactCache<LedgerPage>({ entries: 100, bytes: 1e6, sizeOf: () => 1 });
  const searchKind = async (rpc: HyperliquidRpc): Promise<string> =>
    (await searchExecution(rpc, withdrawal, rules, undefined, cachedPages)).kind;
  // The last block that could contain it exists, but the index has not reached it.
  expect(await searchKind(createRpc(closesAt + 1n, []))).toBe("pending");
  expect(await searchKind(createRpc(closesAt + INDEX_LAG_MS, []))).toBe("pending");
  expect(await searchKind(createRpc(closesAt + INDEX_LAG_MS + 1n, [entry]))).toBe("executed");
});

test("a withdrawal is over only once the whole window was reported, after the maximum delay of indexes, without its transfer", async () => {
  const searchKind = async (rpc: HyperliquidRpc): Promise<string> =>
    (await searchExecution(rpc, withdrawal, rules, undefined)).kind;
  expect(await searchKind(createRpc(closesAt + INDEX_LAG_MS, []))).toBe("pending");
  expect(await searchKind(createRpc(closesAt + INDEX_LAG_MS + 1n, []))).toBe("over");
  // To another recipient, or another amount: other payments of the depository.
  const otherTransfers = [
    { ...entry, destination: depository },
    { ...entry, amount: "12.51" },
  ];
  expect(await searchKind(createRpc(closesAt + INDEX_LAG_MS + 1n, otherTransfers))).toBe("over");
});

const AFTER_WINDOW = closesAt + INDEX_LAG_MS + 1n;
const opaque: HyperliquidTransaction = { ...executed, action: undefined, isOpaque: true };
/** Such a transfer with a future name. */
const unknownEntry: UnknownEntry = {
  hash,
  time: closesAt,
  type: "usdTransfer",
  user: depository,
  destination: friend,
};
const search = async (rpc: HyperliquidRpc) => await searchExecution(rpc, withdrawal, rules, undefined);

test("checks the transaction of a transfer with an unknown name, and never skips it", async () => {
  const rpc = createRpc(AFTER_WINDOW, [], { unknown: [unknownEntry] });
  expect(await search(rpc)).toMatchObject({ kind: "executed", transactionId: hash });
  const unnamed = { ...unknownEntry, user: undefined, destination: undefined };
  expect((await search(createRpc(AFTER_WINDOW, [], { unknown: [unnamed] }))).kind).toBe("executed");
  const otherTransaction = { ...executed, action: { ...action, amount: "1" } };
  expect(
    (await search(createRpc(AFTER_WINDOW, [], { unknown: [unknownEntry], transaction: otherTransaction })))
      .kind,
  ).toBe("over");
});

test("while an action is unreadable, a withdrawal is neither executed nor expired", async () => {
  for (const [transfers, unknown] of [
    [[entry], []],
    [[{ ...entry, kind: "sendAsset", nonce: NONCE }], []],
    [[], [unknownEntry]],
  ] as const)
    await expect(
      search(createRpc(AFTER_WINDOW, transfers, { unknown, transaction: opaque })),
    ).rejects.toThrow(RpcFault);
  // It failed, so it moved nothing.
  const failed = { ...opaque, error: "insufficient margin" };
  expect((await search(createRpc(AFTER_WINDOW, [entry], { transaction: failed }))).kind).toBe("over");
});

test("a withdrawal expires despite unknown entries sent by others", async () => {
  const incoming = { ...unknownEntry, user: friend, destination: depository };
  expect((await search(createRpc(AFTER_WINDOW, [], { unknown: [incoming], transaction: opaque }))).kind).toBe(
    "over",
  );
});

test("finds an execution in a ledger with a crowded block time, and never expires a withdrawal there", async () => {
  const dustTransfers = Array.from({ length: 500 }, (): LedgerTransfer => ({
    ...entry,
    time: NONCE,
    user: friend,
    destination: depository,
    amount: "0.00000001",
  }));
  expect(await search(createRpc(AFTER_WINDOW, [...dustTransfers, entry]))).toMatchObject({
    kind: "executed",
    transactionId: hash,
  });
  expect((await search(createRpc(AFTER_WINDOW, dustTransfers))).kind).toBe("pending");
});

test("a withdrawal is not over if a fault left part of a ledger unread", async () => {
  const otherTransfers = Array.from({ length: 400 }, (_, index): LedgerTransfer => {
    return { ...entry, user: friend, destination: depository, time: NONCE + BigInt(index) * 60_000n };
  });
  let requestCount = 0;
  const rpc = createRpc(AFTER_WINDOW, otherTransfers);
  await search({
    ...rpc,
    ledger: async (...range) => {
      requestCount += 1;
      return await rpc.ledger(...range);
    },
  });
  expect(requestCount).toBeGreaterThan(2);
  for (let faultAt = 1; faultAt <= requestCount; faultAt++) {
    let requests = 0;
    const faulty: HyperliquidRpc = {
      ...rpc,
      ledger: async (...range) => {
        requests += 1;
        if (requests === faultAt)
          throw new RpcFault({ kind: "http", method: "ledger", reason: "HTTP status 429: " });
        return await rpc.ledger(...range);
      },
    };
    await expect(search(faulty)).rejects.toThrow(RpcFault);
  }
});
