import {
  hyperliquidNonceWindow,
  hyperliquidSigningProfiles,
  MAINNET_USDC_TOKEN_ID,
  sendAssetAction,
  type Address,
  type Hex,
  type Hex32,
} from "@causeway/domain";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { RpcFault } from "@causeway/families";
import {
  INDEX_LAG_MS,
  type HyperliquidTransaction,
  type LedgerPage,
  type UnknownEntry,
} from "@causeway/families/hyperliquid";
import { createPayments } from "./pay.ts";
import type { HyperliquidRpc } from "./rpc.ts";
import { encodeSignedAction, idOfSigned, signExchangeAction } from "./signed-action.ts";

const privateKey: Hex32 = `0x${"11".repeat(32)}`;
const solver = privateKeyToAccount(privateKey).address.toLowerCase() as Address;
const friend: Address = "0x00000000000000000000000000000000000000a2";
const hash: Hex32 = `0x${"88".repeat(32)}`;
const NONCE = 1_763_761_234_567n;
const profile = hyperliquidSigningProfiles.hyperliquid;
const AFTER_WINDOW = hyperliquidNonceWindow(NONCE).closesAt + INDEX_LAG_MS + 1n;

const paidAction = sendAssetAction(profile, {
  network: "Mainnet",
  signatureChainId: 1,
  destination: friend,
  from: { kind: "perps" },
  to: { kind: "perps" },
  token: { name: "USDC", tokenId: MAINNET_USDC_TOKEN_ID },
  amount: 1_250_000_000n,
  decimals: 8,
  nonce: Number(NONCE),
});
const raw: Hex = encodeSignedAction(await signExchangeAction(profile, paidAction, privateKey));
const attempt = { raw, txId: idOfSigned(raw), fee: 0n, madeAtMs: 0 };

const transaction: HyperliquidTransaction = {
  hash,
  time: NONCE,
  block: 7n,
  user: solver,
  error: undefined,
  action: {
    type: "SendAsset",
    chain: "Mainnet",
    destination: friend,
    sourceDex: "",
    destinationDex: "",
    token: String(paidAction["token"]),
    amount: String(paidAction["amount"]),
    fromSubAccount: "",
    nonce: NONCE,
  },
  isOpaque: false,
};
const opaque: HyperliquidTransaction = { ...transaction, action: undefined, isOpaque: true };
const unknownEntry: UnknownEntry = { hash, time: NONCE, type: "transfer", user: solver, destination: friend };
const sentTransfer: LedgerPage["transfers"][number] = {
  hash,
  time: NONCE,
  kind: "sendAsset",
  user: solver,
  destination: friend,
  amount: "12.5",
  nonce: NONCE,
};

const unclearEntries: Hex[] = [];

async function outcomeWhere(
  ledger: Partial<LedgerPage>,
  transactionFound: HyperliquidTransaction | undefined,
) {
  const answers: Partial<HyperliquidRpc> = {
    clock: async () => await Promise.resolve(AFTER_WINDOW),
    transaction: async () => await Promise.resolve(transactionFound),
    ledger: async (_user, from, to) => {
      const page: LedgerPage =
        from <= NONCE && NONCE <= to
          ? { size: 1, transfers: [], unknown: [], ...ledger }
          : { size: 0, transfers: [], unknown: [] };
      return await Promise.resolve(page);
    },
  };
  const payments = createPayments({
    rpc: answers as HyperliquidRpc,
    solver,
    depositories: [],
    usdcTokenId: MAINNET_USDC_TOKEN_ID,
    exchange: { profile: "hyperliquid", isTestnet: false },
    now: () => 0,
    onUnclear: (entry) => unclearEntries.push(entry),
    onIncompleteLedger: () => undefined,
  });
  return await payments.outcome(attempt);
}

test("a payment is dead only if no transfer by the solver could be it", async () => {
  expect(await outcomeWhere({}, transaction)).toMatchObject({ kind: "dead" });
  expect(await outcomeWhere({ transfers: [sentTransfer] }, transaction)).toMatchObject({
    kind: "final",
    txId: hash,
  });
  expect(await outcomeWhere({ unknown: [unknownEntry] }, transaction)).toMatchObject({ kind: "final" });
  expect(await outcomeWhere({ unknown: [unknownEntry] }, undefined)).toMatchObject({ kind: "pending" });
  const nonceless = { ...sentTransfer, nonce: undefined };
  expect(await outcomeWhere({ transfers: [nonceless] }, transaction)).toMatchObject({ kind: "final" });
  const incoming = { ...unknownEntry, user: friend, destination: solver };
  expect(await outcomeWhere({ unknown: [incoming] }, opaque)).toMatchObject({ kind: "dead" });
});

test("a payment is neither dead nor made while an action of the solver cannot be read", async () => {
  for (const ledger of [{ transfers: [sentTransfer] }, { unknown: [unknownEntry] }])
    await expect(outcomeWhere(ledger, opaque)).rejects.toThrow(RpcFault);
});

const withoutAccounts: UnknownEntry = { ...unknownEntry, user: undefined, destination: undefined };

test("an entry of an unknown kind blocks only payments that it could be, and raises an alarm", async () => {
  unclearEntries.length = 0;
  await expect(outcomeWhere({ unknown: [withoutAccounts] }, opaque)).rejects.toThrow(RpcFault);
  expect(await outcomeWhere({ unknown: [withoutAccounts] }, undefined)).toMatchObject({ kind: "pending" });
  expect(unclearEntries).toEqual([hash, hash]);
});

test("an entry that cannot be the payment does not block it", async () => {
  unclearEntries.length = 0;
  const entries: UnknownEntry[] = [
    { ...withoutAccounts, hash: `0x${"00".repeat(32)}` },
    { ...withoutAccounts, destination: "0x00000000000000000000000000000000000000a3" },
    { ...unknownEntry, destination: solver },
  ];
  for (const explorerAnswer of [opaque, undefined])
    expect(await outcomeWhere({ unknown: entries }, explorerAnswer)).toMatchObject({ kind: "dead" });
  // Any action signed by another account.
  expect(await outcomeWhere({ unknown: [withoutAccounts] }, { ...opaque, user: friend })).toMatchObject({
    kind: "dead",
  });
  expect(unclearEntries).toEqual([]);
});

const CROWDED = NONCE + 60_000n;

/**
 * The outcome after others have filled one block time of the payment's window with transfers to the solver.
 * An answer shows the first 500 entries of its range.
 */
async function outcomeInACrowd(
  ownTransfers: readonly LedgerPage["transfers"][number][],
  listed: readonly HyperliquidTransaction[],
  now = AFTER_WINDOW,
  isRefused: (requests: number) => boolean = () => false,
) {
  const specks = Array.from({ length: 500 }, (_, index): LedgerPage["transfers"][number] => ({
    hash: `0x${index.toString(16).padStart(64, "0")}`,
    time: CROWDED,
    kind: "usdSend",
    user: friend,
    destination: solver,
    amount: "0.00000001",
    nonce: undefined,
  }));
  let ledgerRequests = 0;
  const entries = [...specks, ...ownTransfers].toSorted((a, b) => (a.time < b.time ? -1 : 1));
  const answers: Partial<HyperliquidRpc> = {
    clock: async () => await Promise.resolve(now),
    transaction: async () => await Promise.resolve(transaction),
    transactionsOf: async () => await Promise.resolve(listed),
    ledger: async (_user, from, to) => {
      ledgerRequests += 1;
      if (isRefused(ledgerRequests))
        throw new RpcFault({ kind: "http", method: "ledger", reason: "HTTP status 429: " });
      const transfers = entries.filter(({ time }) => time >= from && time <= to).slice(0, 500);
      return await Promise.resolve({ size: transfers.length, transfers, unknown: [] });
    },
  };
  const gaps: (bigint | undefined)[] = [];
  const payments = createPayments({
    rpc: answers as HyperliquidRpc,
    solver,
    depositories: [],
    usdcTokenId: MAINNET_USDC_TOKEN_ID,
    exchange: { profile: "hyperliquid", isTestnet: false },
    now: () => 0,
    onUnclear: () => undefined,
    onIncompleteLedger: (_nonce, moment) => gaps.push(moment),
  });
  return { outcome: await payments.outcome(attempt), gaps, ledgerRequests };
}

const BEFORE_EXPIRY = NONCE + 120_000n;

test("finds a payment in a ledger that others have crowded elsewhere, before and after its nonce expires", async () => {
  for (const now of [BEFORE_EXPIRY, AFTER_WINDOW])
    expect(await outcomeInACrowd([sentTransfer], [], now)).toMatchObject({
      outcome: { kind: "final", txId: hash },
    });
});

test("finds a payment hidden by a burst in the solver's own transactions after one ledger request", async () => {
  const hidden = { ...sentTransfer, time: CROWDED };
  for (const now of [BEFORE_EXPIRY, AFTER_WINDOW])
    expect(await outcomeInACrowd([hidden], [transaction], now)).toMatchObject({
      outcome: { kind: "final", txId: hash },
      ledgerRequests: 1,
    });
});

test("never declares a payment dead while a burst may hide it, and reports the gap once its nonce has expired", async () => {
  const failed = { ...transaction, error: "insufficient margin" };
  for (const listed of [[], [failed], [{ ...transaction, user: friend }]])
    expect(await outcomeInACrowd([{ ...sentTransfer, time: CROWDED }], listed)).toMatchObject({
      outcome: { kind: "unseen" },
      gaps: [CROWDED],
    });
  expect((await outcomeInACrowd([], [], BEFORE_EXPIRY)).gaps).toEqual([]);
});

test("never declares a payment dead if a fault left part of the ledger unread", async () => {
  for (const faultAt of [1, 2, 3, 4])
    await expect(outcomeInACrowd([], [], AFTER_WINDOW, (requests) => requests === faultAt)).rejects.toThrow(
      RpcFault,
    );
});

test("sends at most four ledger requests about a crowded payment whose nonce is still valid", async () => {
  const { outcome, ledgerRequests } = await outcomeInACrowd([], [], BEFORE_EXPIRY);
  expect(outcome).toEqual({ kind: "unseen" });
  expect(ledgerRequests).toBeLessThanOrEqual(4);
});
