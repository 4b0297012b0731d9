import { hyperliquidSigningProfiles, type Address, type Hex32 } from "@causeway/domain";
import { expect, test } from "vitest";
import { RpcFault } from "../rpc-fault.ts";
import {
  readClearinghouse,
  readLedger,
  readPosted,
  readSpotBalances,
  readSpotMeta,
  readTransactionAnswer,
  readTransferCheck,
  readUserDetails,
} from "./answers.ts";
import ledger from "./fixtures/ledger.json" with { type: "json" };
import sendAsset from "./fixtures/tx-details-send-asset.json" with { type: "json" };
import usdSend from "./fixtures/tx-details-usd-send.json" with { type: "json" };

const profile = hyperliquidSigningProfiles.hyperliquid;
const hash = sendAsset.tx.hash as Hex32;
const user: Address = "0x00000000000000000000000000000000000000a1";
const transactionIn = (answer: unknown) => readTransactionAnswer(answer, hash, profile);
const from = 1_763_761_230_000n;
const to = 1_763_761_235_000n;
const ledgerIn = (answer: unknown) => readLedger(answer, user, from, to);

/** Copies of a JSON value with one part of it missing, empty, or of another type. */
function* malformedCopies(value: unknown, path = ""): Generator<[path: string, copy: unknown]> {
  if (typeof value !== "object" || value === null) return;
  for (const name of Object.keys(value)) {
    const partPath = `${path}/${name}`;
    const part = (value as Record<string, unknown>)[name];
    const withPart = (replacement: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(name), replacement) : { ...value, [name]: replacement };
    if (!Array.isArray(value)) {
      const { [name]: _removed, ...withoutPart } = value as Record<string, unknown>;
      yield [`${partPath} missing`, withoutPart];
    }
    for (const replacement of [null, [], {}, true, ""].filter((replacement) => replacement !== part))
      yield [`${partPath} = ${JSON.stringify(replacement)}`, withPart(replacement)];
    if (typeof part === "number")
      for (const replacement of [`${part}`, -1, 1.5, 2 ** 60])
        yield [`${partPath} = ${replacement}`, withPart(replacement)];
    for (const [deeper, copy] of malformedCopies(part, partPath)) yield [deeper, withPart(copy)];
  }
}

const outcomeOf = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(RpcFault);
    return "fault";
  }
};

test("reads the explorer's transactions", () => {
  expect(transactionIn(sendAsset)).toEqual({
    hash,
    time: 1_763_761_234_567n,
    block: 801_234_567n,
    user,
    error: undefined,
    action: {
      type: "SendAsset",
      chain: "Mainnet",
      destination: "0x00000000000000000000000000000000000000d1",
      sourceDex: "spot",
      destinationDex: "",
      token: "USDC:0x6d1e7cde53ba9467b783cb7c530ce054",
      amount: "12.5",
      fromSubAccount: "",
      nonce: 1_763_761_234_001n,
    },
    isOpaque: false,
  });
  expect(transactionIn(usdSend)).toMatchObject({
    action: { type: "UsdSend", amount: "12.5", time: 1_763_761_234_001n },
  });
  expect(readUserDetails({ type: "userDetails", txs: [sendAsset.tx] }, user, profile)).toEqual([
    transactionIn(sendAsset),
  ]);
});

/** Fields that do not matter for a withdrawal, a deposit or a payment. */
const UNREAD = ["/tx/action/signatureChainId"];

test("rejects a transaction with a missing or malformed field, or returns fewer facts but no wrong ones", () => {
  for (const answer of [sendAsset, usdSend]) {
    for (const [what, copy] of malformedCopies(answer)) {
      if (UNREAD.some((path) => what.startsWith(path))) continue;
      const outcome = outcomeOf(() => transactionIn(copy));
      // The parser accepts an empty string; later checks refuse it as an amount, account or token.
      if (what.endsWith('= ""') && outcome !== "fault")
        expect(outcome, what).not.toEqual(transactionIn(answer));
      // The explorer does not know the transaction; then, an action of an unknown kind.
      else if (what === "/tx = null") expect(outcome).toBeUndefined();
      else if (what === '/tx/action/type = ""')
        expect(outcome).toMatchObject({ action: undefined, isOpaque: true });
      else expect(outcome, what).toBe("fault");
    }
  }
});

test("refuses an answer about another transaction, account or time", () => {
  const replacement: Hex32 = `0x${"12".repeat(32)}`;
  expect(() => readTransactionAnswer(sendAsset, replacement, profile)).toThrow(RpcFault);
  const othersDetails = { type: "userDetails", txs: [{ ...sendAsset.tx, user: `0x${"ee".repeat(20)}` }] };
  expect(() => readUserDetails(othersDetails, user, profile)).toThrow(RpcFault);
  expect(() => readLedger(ledger, "0x00000000000000000000000000000000000000ee", from, to)).toThrow(RpcFault);
  expect(() => readLedger(ledger, user, from + 1n, to)).toThrow(RpcFault);
  expect(() => readLedger(ledger, user, from, to - 1n)).toThrow(RpcFault);
});

test("an action of an unknown kind is opaque, because it may contain any transfer; a known kind without transfers is not", () => {
  const acting = (type: string) => transactionIn({ ...usdSend, tx: { ...usdSend.tx, action: { type } } });
  expect(acting("multiSig")).toMatchObject({ action: undefined, isOpaque: true });
  expect(acting("spotSend")).toMatchObject({ action: undefined, isOpaque: false });
});

test("reports a ledger entry of an unknown kind with its content, and skips one that is known not to be a transfer", () => {
  const [, send] = ledger;
  const page = ledgerIn([{ ...send, delta: { ...send?.delta, type: "usdTransfer" } }]);
  const { user: sender, destination } = page.unknown[0] ?? {};
  expect(page).toMatchObject({ size: 1, transfers: [], unknown: [{ type: "usdTransfer" }] });
  expect([sender, destination]).not.toContain(undefined);
  expect(ledgerIn([{ ...send, delta: { type: "odd" } }]).unknown).toMatchObject([
    { user: undefined, destination: undefined },
  ]);
  expect(ledgerIn([{ ...send, delta: { type: "rewardsClaim" } }]).unknown).toEqual([]);
});

test("does not accept the names of another profile", () => {
  expect(() => readTransactionAnswer(sendAsset, hash, hyperliquidSigningProfiles.default)).toThrow(RpcFault);
});

test("reports a transaction as unknown only if the explorer says so explicitly", () => {
  for (const answer of [
    null,
    { type: "error", message: "Transaction not found" },
    { type: "txDetails", tx: null },
  ])
    expect(transactionIn(answer)).toBeUndefined();
  for (const message of ["More than 100 archived blocks", "rate limited", "internal error", ""])
    expect(() => transactionIn({ type: "error", message }), message).toThrow(RpcFault);
  for (const answer of [undefined, [], "null", 0, {}, { type: "error" }])
    expect(() => transactionIn(answer)).toThrow(RpcFault);
});

test("reads the transfers of a ledger, and counts its other entries", () => {
  const page = ledgerIn(ledger);
  expect(page.size).toBe(3);
  expect(page.transfers.map(({ kind, nonce, amount }) => [kind, nonce, amount])).toEqual([
    ["sendAsset", 1_763_761_234_001n, "12.5"],
    ["usdSend", undefined, "1.0"],
  ]);
});

test("reads a ledger with a transfer without a nonce, or with one of spot tokens", () => {
  const [deposited, send, internal] = ledger;
  const { nonce: _, ...withoutNonce } = send?.delta ?? {};
  const spot = { ...withoutNonce, type: "spotTransfer", nonce: null };
  for (const [delta, kind] of [
    [withoutNonce, "sendAsset"],
    [{ ...withoutNonce, nonce: null }, "sendAsset"],
    [spot, "spotSend"],
  ] as const) {
    const page = ledgerIn([deposited, { ...send, delta }, internal]);
    expect(page.transfers.map((transfer) => [transfer.kind, transfer.nonce, transfer.amount])).toEqual([
      [kind, undefined, "12.5"],
      ["usdSend", undefined, "1.0"],
    ]);
  }
});

test("throws RpcFault for a ledger with a missing or malformed field of a transfer", () => {
  const unread = /\/(?:sourceDex|destinationDex|token|usdcValue|fee|nativeTokenFee|feeToken)\b/;
  const transfers = ledger.slice(1);
  for (const [what, copy] of malformedCopies(transfers)) {
    const isEmpty = ["/type", "/amount", "/usdc"].some((name) => what.endsWith(`${name} = ""`));
    // The nonce is optional: transfers by contracts and agents have none.
    const hasNoNonce = /\/nonce (?:missing|= null)$/.test(what);
    if (unread.test(what) || isEmpty || hasNoNonce) continue;
    expect(
      outcomeOf(() => ledgerIn(copy)),
      what,
    ).toBe("fault");
  }
});

test("parses the other answers in their documented format, and throws RpcFault for any other format", () => {
  const meta = { tokens: [{ name: "HYPE", tokenId: `0x${"AB".repeat(16)}`, index: 150, szDecimals: 2 }] };
  expect(readSpotMeta(meta)).toEqual([
    { name: "HYPE", tokenId: `0x${"ab".repeat(16)}`, index: 150, decimals: 2 },
  ]);
  const clearing = { withdrawable: "1.5", time: 5 };
  expect(readClearinghouse(clearing)).toEqual({ withdrawable: "1.5", time: 5n });
  const spot = { balances: [{ token: 150, total: "2.0", hold: "0.5" }] };
  expect(readSpotBalances(spot)).toEqual(new Map([[150, { total: "2.0", hold: "0.5" }]]));
  const check = { fee: "1.0", isSanctioned: false };
  expect(readTransferCheck(check)).toEqual(check);
  expect(readPosted({ status: "ok", response: { type: "default" } })).toBeUndefined();
  expect(readPosted({ status: "err", response: "no" })).toEqual({ refusal: "no" });
  for (const answer of [null, [], {}, "ok", { status: "ok?" }, { status: "err" }])
    for (const read of [readSpotMeta, readClearinghouse, readSpotBalances, readTransferCheck, readPosted])
      expect(() => read(answer), read.name).toThrow(RpcFault);
  expect(() => readSpotMeta({ tokens: [{ ...meta.tokens[0], szDecimals: 40 }] })).toThrow(RpcFault);
});
