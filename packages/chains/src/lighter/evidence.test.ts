import { encodeLighterTransfer, type LighterTransfer } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { expect, test } from "vitest";
import { lighter, type LighterTransaction } from "@causeway/families/lighter";
import { endpointEvidence } from "../evidence-source.ts";
import { lighterEndpoint, lighterEvidence } from "./evidence.ts";
import type { LighterRpc } from "./rpc.ts";

const FACTS = { explorerApiUrl: "http://127.0.0.1:1", exchangeChainId: 304n };
const createChain = (changes: Partial<ConfiguredChain> = {}): ConfiguredChain => ({
  name: "lighter",
  vmType: "lighter-vm",
  rpcUrls: ["http://127.0.0.1:1"],
  rpcQuorum: 1,
  depository: "460491",
  additionalDepositories: [],
  hubChainId: "4004",
  evm: undefined,
  lighter: FACTS,
  ...changes,
});
const evidenceOf = (rpc: LighterRpc, changes: Partial<ConfiguredChain> = {}) =>
  endpointEvidence(createChain(changes), lighter, lighterEndpoint(rpc));
const transfer: LighterTransfer = {
  nonce: 12n,
  fromAccountIndex: 460_491n,
  fromRouteType: 0n,
  apiKeyIndex: 4n,
  toAccountIndex: 462_196n,
  toRouteType: 0n,
  assetIndex: 3n,
  amount: 1_000_000n,
  usdcFee: 0n,
  lighterChainId: 304n,
  memo: `0x${"ab".repeat(32)}`,
};
const PAYLOAD = encodeLighterTransfer(transfer);

function createTransaction(
  hash: string,
  nonce: bigint,
  fields: Partial<LighterTransaction>,
): LighterTransaction {
  const { lighterChainId: _, ...signed } = transfer;
  return {
    hash: hash.repeat(80),
    state: "final",
    queuedAtMs: 1_763_298_993_375n,
    executedAtMs: 1_763_298_993_375n,
    blockHeight: 20n,
    transfer: { ...signed, nonce },
    ...fields,
  };
}

/** Lighter with another history after each listing; the last history stays. Records the requested hashes. */
function createRpc(
  ...histories: readonly (readonly LighterTransaction[])[]
): LighterRpc & { readonly requestedHashes: string[] } {
  let historyIndex = -1;
  const requestedHashes: string[] = [];
  return {
    requestedHashes,
    hasHistory: true,
    transaction: async (hash) => {
      requestedHashes.push(hash);
      return histories[Math.max(0, historyIndex)]?.find((transaction) => transaction.hash === hash);
    },
    transfersOf: async () => {
      historyIndex = Math.min(historyIndex + 1, histories.length - 1);
      const entries = (histories[historyIndex] ?? []).map(({ hash }) => ({
        hash,
        fromAccountIndex: "460491",
      }));
      return { entries, isLast: true };
    },
    close: async () => undefined,
  };
}

test("ignores a failed transaction whose block was reorged out during the check", async () => {
  const failed = createTransaction("a", 12n, { state: "failed", blockHeight: 10n });
  const later = createTransaction("b", 13n, {});
  const orphaned = createTransaction("a", 12n, { state: "failed", blockHeight: 0n });
  const paid = createTransaction("c", 12n, {});
  const withdrawalAfter = async (...histories: readonly (readonly LighterTransaction[])[]) =>
    await evidenceOf(createRpc(...histories)).withdrawal(PAYLOAD, undefined);
  expect(await withdrawalAfter([later, failed])).toMatchObject({ value: { status: "expired" } });
  expect(await withdrawalAfter([later, failed], [later, paid, orphaned])).toMatchObject({
    value: { status: "executed" },
  });
  expect(await withdrawalAfter([later, failed], [later, orphaned])).toMatchObject({
    value: { status: "pending" },
  });
});

test("does not look up an id that is not in Lighter's format", async () => {
  const rpc = createRpc([]);
  const source = evidenceOf(rpc);
  const question = {
    orderId: transfer.memo,
    solver: `0x${"50".repeat(20)}`,
    deadline: 1,
    extraData: "0x",
    receipts: [],
    calls: [],
  } as const;
  for (const id of ["AB".repeat(40), `0x${"ab".repeat(40)}`, "ab".repeat(32), `${"ab".repeat(39)}a&`, ""]) {
    expect(await source.deposits(id)).toMatchObject({ kind: "refuted" });
    expect(await source.payments(id, question)).toMatchObject({ kind: "refuted" });
    await source.withdrawal(PAYLOAD, id);
  }
  expect(rpc.requestedHashes).toEqual([]);
});

test("reports neither deposits nor withdrawals without a depository", async () => {
  const source = evidenceOf(createRpc([]), { depository: undefined });
  expect(await source.deposits("ab".repeat(40))).toMatchObject({ kind: "refuted" });
  expect(await source.withdrawal(PAYLOAD, undefined)).toMatchObject({ kind: "refuted" });
});

test("refuses a chain of another family, or a quorum of more endpoints than configured, at startup", () => {
  expect(() => lighterEvidence(createChain({ lighter: undefined as never }))).toThrow(RangeError);
  expect(() => lighterEvidence(createChain({ rpcQuorum: 2 }))).toThrow(RangeError);
});
