import fc from "fast-check";
import { hashStruct } from "viem";
import { expect, test } from "vitest";
import bitcoin from "../../../test/fixtures/oracle/withdrawal-bitcoin.json" with { type: "json" };
import hyperliquid from "../../../test/fixtures/oracle/withdrawal-hl-usdsend.json" with { type: "json" };
import lighter from "../../../test/fixtures/oracle/withdrawal-lighter.json" with { type: "json" };
import solana from "../../../test/fixtures/oracle/withdrawal-solana-native.json" with { type: "json" };
import { decodeAddress } from "./address.ts";
import {
  bitcoinPsbtId,
  decodeBitcoinPsbt,
  decodeHyperliquidAction,
  decodeLighterTransfer,
  encodeBitcoinPsbt,
  encodeHyperliquidAction,
  encodeLighterTransfer,
  defaultSigningNames,
  hyperliquidActionId,
  hyperliquidSigningNames,
  lighterTransferId,
  type Hex,
  type HyperliquidAction,
  type LighterTransfer,
} from "@causeway/domain";
import {
  decodeSolanaTransferRequest,
  encodeSolanaTransferRequest,
  solanaTransferRequestId,
} from "./solana/withdrawals/transfer-request.ts";
import type { SolanaTransferRequest } from "./solana/withdrawals/transfer-request.ts";

const hex = (minLength: number, maxLength = minLength) =>
  fc
    .uint8Array({ minLength, maxLength })
    .map((bytes): Hex => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
const uint64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const int64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n });
const upper = (text: string): Hex => `0x${text.slice(2).toUpperCase()}`;

/**
 * Changes the digits of `payload` one at a time; whatever still decodes must encode to exactly the changed
 * bytes.
 */
function checkEveryChangeIsAnotherPayload(payload: Hex, reencode: (changed: Hex) => Hex | undefined): void {
  fc.assert(
    fc.property(fc.nat({ max: payload.length - 3 }), fc.integer({ min: 1, max: 15 }), (position, change) => {
      const digit = (Number.parseInt(payload[position + 2]!, 16) ^ change).toString(16);
      const changed = `${payload.slice(0, position + 2)}${digit}${payload.slice(position + 3)}` as Hex;
      expect(reencode(changed) ?? changed).toBe(changed);
    }),
    { numRuns: 300 },
  );
  for (const bad of [`${payload}00`, payload.slice(0, -2), payload.slice(0, -1), payload.slice(2), "0x"])
    expect(reencode(bad as Hex), bad.slice(-8)).toBeUndefined();
}

const solanaGiven = solana.input.withdrawal.withdrawal;
const solanaRequest: SolanaTransferRequest = {
  ...solanaGiven,
  domain: solanaGiven.domain as Hex,
  amount: BigInt(solanaGiven.amount),
  nonce: BigInt(solanaGiven.nonce),
  expiration: BigInt(solanaGiven.expiration),
};

test("the Solana withdrawal of the contract's vectors has its payload and its id", () => {
  expect(encodeSolanaTransferRequest(solanaRequest)).toBe(solana.output.encoded);
  expect(decodeSolanaTransferRequest(upper(solana.output.encoded))).toEqual(solanaRequest);
  expect(solanaTransferRequestId(solanaRequest)).toBe(solana.output.withdrawalId);
});

test("decoding a Solana payload returns its request, with and without a token", () => {
  const key = hex(32).map((bytes) => decodeAddress("solana-vm", bytes));
  const aRequest = fc.record({
    domain: hex(32),
    recipient: key,
    token: fc.oneof(key, fc.constant("1".repeat(32))),
    amount: uint64,
    nonce: uint64,
    expiration: int64,
    vaultAddress: key,
  });
  fc.assert(
    fc.property(aRequest, (request) => {
      expect(decodeSolanaTransferRequest(encodeSolanaTransferRequest(request))).toEqual(request);
    }),
  );
});

test("a Solana payload has one format", () => {
  const withToken = encodeSolanaTransferRequest({ ...solanaRequest, token: solanaRequest.recipient });
  for (const payload of [solana.output.encoded as Hex, withToken])
    checkEveryChangeIsAnotherPayload(payload, (changed) => {
      const request = decodeSolanaTransferRequest(changed);
      return request && encodeSolanaTransferRequest(request);
    });
  const key = withToken.slice(2 + 65 * 2, 2 + 97 * 2);
  const nativeAsToken = withToken.replace(`01${key}`, `01${"00".repeat(32)}`) as Hex;
  expect(nativeAsToken).not.toBe(withToken);
  expect(decodeSolanaTransferRequest(nativeAsToken)).toBeUndefined();
});

test("refuses a Solana request whose values do not fit their types", () => {
  const encoded = (change: Partial<SolanaTransferRequest>) => () =>
    encodeSolanaTransferRequest({ ...solanaRequest, ...change });
  expect(encoded({ amount: 1n << 64n })).toThrow(RangeError);
  expect(encoded({ nonce: -1n })).toThrow(RangeError);
  expect(encoded({ expiration: 1n << 63n })).toThrow(RangeError);
  expect(encoded({ domain: "0xab" })).toThrow(RangeError);
  expect(encoded({ recipient: "abc" })).toThrow("recipient is not an address of solana-vm");
});

test("the Bitcoin withdrawal of the contract's vectors has its payload and its id", () => {
  const { psbt } = bitcoin.input.withdrawal.withdrawal;
  expect(encodeBitcoinPsbt(psbt)).toBe(bitcoin.output.encoded);
  expect(decodeBitcoinPsbt(upper(bitcoin.output.encoded))).toBe(psbt);
  expect(bitcoinPsbtId(psbt)).toBe(bitcoin.output.withdrawalId);
  // The id is the hash of a text: without a fixed letter case, a payload would have many.
  expect(bitcoinPsbtId(psbt.toUpperCase())).toBe(bitcoin.output.withdrawalId);
});

test("refuses bytes that do not start like a partially signed transaction as a Bitcoin payload", () => {
  for (const bad of [
    "0x",
    "0x70736274ff",
    "0x70736274fe00",
    "0x70736274ff0",
    "70736274ff00",
    "0x70736274ffzz",
  ])
    expect(decodeBitcoinPsbt(bad as Hex), bad).toBeUndefined();
  expect(() => bitcoinPsbtId("0x70736274ff00")).toThrow(RangeError);
});

const hyperliquidParameters = hyperliquid.input.withdrawal.withdrawal.parameters;
const usdSend: HyperliquidAction = {
  type: "UsdSend",
  chain: hyperliquidParameters.hyperliquidChain,
  destination: hyperliquidParameters.destination,
  amount: hyperliquidParameters.amount,
  time: BigInt(hyperliquidParameters.time),
};

test("the Hyperliquid withdrawal of the contract's vectors has its payload and its id", () => {
  expect(encodeHyperliquidAction(usdSend)).toBe(hyperliquid.output.encoded);
  expect(decodeHyperliquidAction(upper(hyperliquid.output.encoded))).toEqual(usdSend);
  expect(hyperliquidActionId(usdSend, hyperliquidSigningNames)).toBe(hyperliquid.output.withdrawalId);
});

test("with the names of another network the same action has another id", () => {
  expect(hyperliquidActionId(usdSend, defaultSigningNames)).not.toBe(hyperliquid.output.withdrawalId);
});

const text = fc.string({ unit: "grapheme", maxLength: 40 });
const aSendAsset = fc.record({
  type: fc.constant("SendAsset" as const),
  chain: text,
  destination: text,
  sourceDex: text,
  destinationDex: text,
  token: text,
  amount: text,
  fromSubAccount: text,
  nonce: uint64,
});

test("decoding a Hyperliquid payload returns its action, whose id is viem's struct hash", () => {
  const aUsdSend = fc.record({
    type: fc.constant("UsdSend" as const),
    chain: text,
    destination: text,
    amount: text,
    time: uint64,
  });
  const field = (name: string, type = "string") => ({ name, type });
  const types = {
    "HyperliquidTransaction:UsdSend": [
      ...["hyperliquidChain", "destination", "amount"].map((name) => field(name)),
      field("time", "uint64"),
    ],
    "HyperliquidTransaction:SendAsset": [
      ...["hyperliquidChain", "destination", "sourceDex", "destinationDex", "token", "amount"].map((name) =>
        field(name),
      ),
      field("fromSubAccount"),
      field("nonce", "uint64"),
    ],
  };
  fc.assert(
    fc.property(fc.oneof(aUsdSend, aSendAsset), (action) => {
      expect(decodeHyperliquidAction(encodeHyperliquidAction(action))).toEqual(action);
      expect(hyperliquidActionId(action, hyperliquidSigningNames)).toBe(
        hashStruct({
          primaryType: `HyperliquidTransaction:${action.type}`,
          types,
          data: { ...action, hyperliquidChain: action.chain },
        }),
      );
    }),
  );
});

test("a Hyperliquid payload has one format", () => {
  checkEveryChangeIsAnotherPayload(hyperliquid.output.encoded as Hex, (changed) => {
    const action = decodeHyperliquidAction(changed);
    return action && encodeHyperliquidAction(action);
  });
});

const { type: _type, ...transferGiven } = lighter.input.withdrawal.withdrawal.parameters;
const { memo, ...numbers } = transferGiven;
const transfer = {
  ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, BigInt(value)])),
  memo: `0x${memo}`,
} as unknown as LighterTransfer;

test("the Lighter withdrawal of the contract's vectors has its payload and its id", () => {
  expect(encodeLighterTransfer(transfer)).toBe(lighter.output.encoded);
  expect(decodeLighterTransfer(upper(lighter.output.encoded))).toEqual(transfer);
  expect(lighterTransferId(transfer)).toBe(lighter.output.withdrawalId);
  expect(lighterTransferId({ ...transfer, memo: upper(transfer.memo) })).toBe(lighter.output.withdrawalId);
});

test("every field of a Lighter transfer is part of its payload and of its id", () => {
  const payload = encodeLighterTransfer(transfer);
  for (const name of Object.keys(numbers)) {
    const changed = { ...transfer, [name]: 77n };
    expect(decodeLighterTransfer(encodeLighterTransfer(changed)), name).toEqual(changed);
    expect(encodeLighterTransfer(changed), name).not.toBe(payload);
    expect(lighterTransferId(changed), name).not.toBe(lighter.output.withdrawalId);
    expect(() => lighterTransferId({ ...transfer, [name]: 1n << 64n }), name).toThrow(RangeError);
  }
  expect(() => lighterTransferId({ ...transfer, memo: "0xab" })).toThrow(RangeError);
});

test("a Lighter payload has one format, and is a transfer", () => {
  checkEveryChangeIsAnotherPayload(lighter.output.encoded as Hex, (changed) => {
    const request = decodeLighterTransfer(changed);
    return request && encodeLighterTransfer(request);
  });
  const words = lighter.output.encoded.slice(2).match(/.{64}/g)!;
  const otherAction = `0x${words.with(1, "1".padStart(64, "0")).join("")}` as Hex;
  expect(decodeLighterTransfer(otherAction)).toBeUndefined();
});
