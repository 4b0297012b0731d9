import { encodeLighterTransfer, type LighterTransfer } from "@causeway/domain";
import { expect, test } from "vitest";
import { readWithdrawal, type LighterTransaction, type WithdrawalPayment } from "@causeway/families/lighter";
import type { LighterRpc } from "./rpc.ts";
import { findTransfers } from "./withdrawal-search.ts";

const DEPOSITORY = 460_491n;
const createTransfer = (changes: Partial<LighterTransfer> = {}): LighterTransfer => ({
  nonce: 12n,
  fromAccountIndex: DEPOSITORY,
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
const PAYMENT = readWithdrawal(encodeLighterTransfer(createTransfer()), {
  depositories: ["460491"],
  exchangeChainId: 304n,
}) as WithdrawalPayment;

const hashOf = (nonce: number): string => nonce.toString(16).padStart(80, "0");
function createTransaction(
  nonce: number,
  fields: Partial<LighterTransaction> = {},
  key = 4n,
): LighterTransaction {
  const { lighterChainId: _, ...transfer } = createTransfer({
    nonce: BigInt(nonce),
    apiKeyIndex: key,
    amount: 5n,
  });
  return {
    hash: hashOf(nonce),
    state: "final",
    queuedAtMs: 1n,
    executedAtMs: 1n,
    blockHeight: 1n,
    transfer,
    ...fields,
  };
}

/** Lighter with this history, newest first, in pages of `perPage` lines. */
function createRpc(history: readonly LighterTransaction[], perPage = 3, unknown: readonly string[] = []) {
  const requestedHashes: string[] = [];
  const pages: number[] = [];
  const rpc: LighterRpc = {
    hasHistory: true,
    transaction: async (hash) => {
      requestedHashes.push(hash);
      return unknown.includes(hash) ? undefined : history.find((transaction) => transaction.hash === hash);
    },
    transfersOf: async (_account, page) => {
      pages.push(page);
      const lines = history.slice(page * perPage, (page + 1) * perPage);
      const entries = lines.map(({ hash, transfer }) => ({
        hash,
        fromAccountIndex: `${transfer?.fromAccountIndex ?? DEPOSITORY}`,
      }));
      return { entries, isLast: lines.length < perPage };
    },
    close: async () => undefined,
  };
  return { rpc, requestedHashes, pages };
}
const bounds = { maxPages: 3, maxConcurrent: 2 };
const newestFirst = (...nonces: number[]): LighterTransaction[] =>
  nonces.map((nonce) => createTransaction(nonce));

test("stops at the transaction that used the nonce", async () => {
  const { rpc, pages } = createRpc(newestFirst(15, 14, 13, 12, 11, 10));
  const searched = await findTransfers(rpc, PAYMENT, undefined, bounds);
  expect(searched.transactions.map(({ transfer }) => transfer?.nonce)).toContain(12n);
  expect(pages).toEqual([0, 1]);
});

test("reads the transaction that the caller names first, and stops if it used the nonce", async () => {
  const history = newestFirst(15, 14, 13, 12);
  const { rpc, pages, requestedHashes } = createRpc(history);
  expect((await findTransfers(rpc, PAYMENT, hashOf(12), bounds)).transactions).toEqual([history[3]]);
  expect({ pages, requestedHashes }).toEqual({ pages: [], requestedHashes: [hashOf(12)] });
});

test("a history is complete once it contains a smaller nonce of the key, or its end", async () => {
  const isHistoryComplete = async (history: readonly LighterTransaction[]): Promise<boolean> =>
    (await findTransfers(createRpc(history).rpc, PAYMENT, undefined, bounds)).isComplete;
  expect(await isHistoryComplete(newestFirst(15, 14, 13, 11, 10, 9, 8, 7, 6, 5))).toBe(true);
  expect(await isHistoryComplete(newestFirst(15, 14))).toBe(true);
  expect(await isHistoryComplete([])).toBe(true);
  // A smaller nonce that is not settled, or of another key, does not count.
  const largerNonces = [15, 14, 13].map((nonce) => createTransaction(nonce));
  const ofOtherKey = Array.from({ length: 9 }, (_, index) => createTransaction(100 + index, {}, 5n));
  expect(
    await isHistoryComplete([...largerNonces, createTransaction(11, { state: "notFinal" }), ...ofOtherKey]),
  ).toBe(false);
  expect(await isHistoryComplete([...largerNonces, createTransaction(3, {}, 5n), ...ofOtherKey])).toBe(false);
});

test("a history that is too long, or contains unknown transactions or ones that are not transfers, is incomplete", async () => {
  const longHistory = Array.from({ length: 20 }, (_, index) => createTransaction(40 - index));
  const { rpc, pages } = createRpc(longHistory);
  expect((await findTransfers(rpc, PAYMENT, undefined, bounds)).isComplete).toBe(false);
  expect(pages).toEqual([0, 1, 2]);
  const unknown = createRpc(newestFirst(15, 14, 13, 11), 3, [hashOf(14)]);
  expect((await findTransfers(unknown.rpc, PAYMENT, undefined, bounds)).isComplete).toBe(false);
  const withNonTransfer = createRpc([createTransaction(15, { transfer: undefined }), ...newestFirst(13, 11)]);
  expect((await findTransfers(withNonTransfer.rpc, PAYMENT, undefined, bounds)).isComplete).toBe(false);
});

test("a history is incomplete without an explorer", async () => {
  const rpc = { ...createRpc(newestFirst(15, 11)).rpc, hasHistory: false };
  expect(await findTransfers(rpc, PAYMENT, undefined, bounds)).toEqual({
    transactions: [],
    isComplete: false,
  });
});

test("does not read incoming transfers of the depository", async () => {
  const { lighterChainId: _, ...incoming } = createTransfer({
    fromAccountIndex: 5n,
    toAccountIndex: DEPOSITORY,
  });
  const { rpc, requestedHashes } = createRpc([
    createTransaction(99, { transfer: incoming }),
    ...newestFirst(13, 11),
  ]);
  expect((await findTransfers(rpc, PAYMENT, undefined, bounds)).isComplete).toBe(true);
  expect(requestedHashes).toEqual([hashOf(13), hashOf(11)]);
});
