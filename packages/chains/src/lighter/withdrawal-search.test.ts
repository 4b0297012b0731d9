import { encodeLighterTransfer, type LighterTransfer } from "@causeway/domain";
import { expect, test } from "vitest";
import { readWithdrawal, type ExchangeTransaction, type WithdrawalPayment } from "@causeway/families/lighter";
import type { ExchangeRpc } from "./rpc.ts";
import { findTransfers } from "./withdrawal-search.ts";

const OURS = 460_491n;
const aTransfer = (changes: Partial<LighterTransfer> = {}): LighterTransfer => ({
  nonce: 12n,
  fromAccountIndex: OURS,
  fromRouteType: 0n,
  apiKeyIndex: 4n,
  toAccountIndex: 462_196n,
  toRouteType: 0n,
  assetIndex: 3n,
  amount: 1_000_000n,
  usdcFee: 100n,
  lighterChainId: 304n,
  memo: `0x${"ab".repeat(32)}`,
  ...changes,
});
const PAYMENT = readWithdrawal(encodeLighterTransfer(aTransfer()), {
  depositories: ["460491"],
  exchangeChainId: 304n,
}) as WithdrawalPayment;

const hashOf = (nonce: number): string => nonce.toString(16).padStart(80, "0");
function aTransaction(
  nonce: number,
  fields: Partial<ExchangeTransaction> = {},
  key = 4n,
): ExchangeTransaction {
  const { lighterChainId: _, ...transfer } = aTransfer({
    nonce: BigInt(nonce),
    apiKeyIndex: key,
    amount: 5n,
  });
  return {
    hash: hashOf(nonce),
    standing: "final",
    queuedAtMs: 1n,
    executedAtMs: 1n,
    blockHeight: 1n,
    transfer,
    ...fields,
  };
}

/** Lighter with this history, newest first, in pages of `perPage` lines. */
function anExchange(history: readonly ExchangeTransaction[], perPage = 3, unknown: readonly string[] = []) {
  const asked: string[] = [];
  const pages: number[] = [];
  const rpc: ExchangeRpc = {
    hasHistory: true,
    transaction: async (hash) => {
      asked.push(hash);
      return unknown.includes(hash) ? undefined : history.find((one) => one.hash === hash);
    },
    transfersOf: async (_account, page) => {
      pages.push(page);
      const lines = history.slice(page * perPage, (page + 1) * perPage);
      const entries = lines.map(({ hash, transfer }) => ({
        hash,
        fromAccountIndex: `${transfer?.fromAccountIndex ?? OURS}`,
      }));
      return { entries, isLast: lines.length < perPage };
    },
    close: async () => undefined,
  };
  return { rpc, asked, pages };
}
const bounds = { pages: 3, atOnce: 2 };
const newestFirst = (...nonces: number[]): ExchangeTransaction[] =>
  nonces.map((nonce) => aTransaction(nonce));

test("stops at the transaction that used the nonce", async () => {
  const { rpc, pages } = anExchange(newestFirst(15, 14, 13, 12, 11, 10));
  const found = await findTransfers(rpc, PAYMENT, undefined, bounds);
  expect(found.transactions.map(({ transfer }) => transfer?.nonce)).toContain(12n);
  expect(pages).toEqual([0, 1]);
});

test("reads the transaction that the caller names first, and stops if it used the nonce", async () => {
  const history = newestFirst(15, 14, 13, 12);
  const { rpc, pages, asked } = anExchange(history);
  expect((await findTransfers(rpc, PAYMENT, hashOf(12), bounds)).transactions).toEqual([history[3]]);
  expect({ pages, asked }).toEqual({ pages: [], asked: [hashOf(12)] });
});

test("a history is complete once it contains a smaller nonce of the key, or its end", async () => {
  const whole = async (history: readonly ExchangeTransaction[]): Promise<boolean> =>
    (await findTransfers(anExchange(history).rpc, PAYMENT, undefined, bounds)).isComplete;
  expect(await whole(newestFirst(15, 14, 13, 11, 10, 9, 8, 7, 6, 5))).toBe(true);
  expect(await whole(newestFirst(15, 14))).toBe(true);
  expect(await whole([])).toBe(true);
  // A smaller nonce that is not settled, or of another key, does not count.
  const open = [15, 14, 13].map((nonce) => aTransaction(nonce));
  const others = Array.from({ length: 9 }, (_, at) => aTransaction(100 + at, {}, 5n));
  expect(await whole([...open, aTransaction(11, { standing: "notFinal" }), ...others])).toBe(false);
  expect(await whole([...open, aTransaction(3, {}, 5n), ...others])).toBe(false);
});

test("a history that is too long, or contains unknown transactions or ones that are not transfers, is incomplete", async () => {
  const long = Array.from({ length: 20 }, (_, at) => aTransaction(40 - at));
  const { rpc, pages } = anExchange(long);
  expect((await findTransfers(rpc, PAYMENT, undefined, bounds)).isComplete).toBe(false);
  expect(pages).toEqual([0, 1, 2]);
  const unknown = anExchange(newestFirst(15, 14, 13, 11), 3, [hashOf(14)]);
  expect((await findTransfers(unknown.rpc, PAYMENT, undefined, bounds)).isComplete).toBe(false);
  const odd = anExchange([aTransaction(15, { transfer: undefined }), ...newestFirst(13, 11)]);
  expect((await findTransfers(odd.rpc, PAYMENT, undefined, bounds)).isComplete).toBe(false);
});

test("a history is incomplete without an explorer", async () => {
  const rpc = { ...anExchange(newestFirst(15, 11)).rpc, hasHistory: false };
  expect(await findTransfers(rpc, PAYMENT, undefined, bounds)).toEqual({
    transactions: [],
    isComplete: false,
  });
});

test("does not read incoming transfers of the depository", async () => {
  const { lighterChainId: _, ...incoming } = aTransfer({ fromAccountIndex: 5n, toAccountIndex: OURS });
  const { rpc, asked } = anExchange([aTransaction(99, { transfer: incoming }), ...newestFirst(13, 11)]);
  expect((await findTransfers(rpc, PAYMENT, undefined, bounds)).isComplete).toBe(true);
  expect(asked).toEqual([hashOf(13), hashOf(11)]);
});
