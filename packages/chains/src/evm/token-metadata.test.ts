import type { Address, Hex } from "@causeway/domain";
import { decodeFunctionData, encodeAbiParameters, encodeFunctionResult, multicall3Abi, padHex } from "viem";
import { expect, test } from "vitest";
import { readTokenMetadata } from "./read-token-metadata.ts";
import { RpcFault } from "@causeway/families";
import { tokenMetadataOf } from "./token-metadata.ts";

const TOKEN: Address = `0x${"ab".repeat(20)}`;
const MULTICALL3: Address = `0x${"3c".repeat(20)}`;

const word = (value: bigint): Hex => encodeAbiParameters([{ type: "uint256" }], [value]);
const abiText = (text: string): Hex => encodeAbiParameters([{ type: "string" }], [text]);
const bytes32 = (text: string): Hex => padHex(`0x${Buffer.from(text).toString("hex")}`, { dir: "right" });

/** The results of an ordinary token, with changes. */
function metadataOf(change: {
  decimals?: Hex | undefined;
  balance?: Hex | undefined;
  symbol?: Hex | undefined;
  name?: Hex | undefined;
}) {
  const usual = { decimals: word(6n), balance: word(0n), symbol: abiText("ABC"), name: abiText("A B C") };
  const { decimals, balance, symbol, name } = { ...usual, ...change };
  return tokenMetadataOf(TOKEN, [decimals, balance, symbol, name]);
}

test("reads a token's metadata", () => {
  expect(metadataOf({})).toEqual({ symbol: "ABC", name: "A B C", decimals: 6 });
});

test("reads texts of the oldest tokens, which return 32 bytes", () => {
  expect(metadataOf({ symbol: bytes32("MKR"), name: bytes32("Maker") })).toMatchObject({
    symbol: "MKR",
    name: "Maker",
  });
  const full = "x".repeat(32);
  expect(metadataOf({ symbol: bytes32(full) })).toMatchObject({ symbol: full });
});

test("a contract without decimals or balances is not a token", () => {
  for (const answer of [undefined, "0x", "0x06"] as const) {
    expect(metadataOf({ decimals: answer })).toBeUndefined();
    expect(metadataOf({ balance: answer })).toBeUndefined();
  }
});

test("refuses decimals above 36", () => {
  expect(metadataOf({ decimals: word(36n) })).toMatchObject({ decimals: 36 });
  expect(metadataOf({ decimals: word(37n) })).toBeUndefined();
  expect(metadataOf({ decimals: word(2n ** 256n - 1n) })).toBeUndefined();
});

test("names a token without a symbol by its address, and one without a name by its symbol", () => {
  for (const answer of [undefined, "0x", word(2n ** 255n), abiText(""), `0x${"00".repeat(64)}`] as const) {
    expect(metadataOf({ symbol: answer, name: answer })).toMatchObject({
      symbol: "0xabab…abab",
      name: "0xabab…abab",
    });
  }
  expect(metadataOf({ name: abiText("\u0000\u200B\n") })).toMatchObject({ symbol: "ABC", name: "ABC" });
});

test("limits texts to one line without deceptive characters, of limited length", () => {
  expect(metadataOf({ symbol: abiText("U\u202ESD\u200BC\n\u0007fake") })).toMatchObject({
    symbol: "U SD C fake",
  });
  const long = metadataOf({ symbol: abiText("s".repeat(50_000)), name: abiText("n".repeat(50_000)) });
  expect(long?.symbol).toHaveLength(32);
  expect(long?.name).toHaveLength(128);
});

test("ignores texts with offsets outside of the data", () => {
  const outOfRange: Hex = `${word(32n)}${word(1_000n).slice(2)}${"41".repeat(32)}`;
  expect(metadataOf({ symbol: outOfRange })).toMatchObject({ symbol: "0xabab…abab" });
});

/** A node whose multicall returns this, or fails with it. */
const createNode = (answer: Hex | undefined | Error, requests: Hex[] = []) => ({
  ask: async (to: Address, data: Hex): Promise<Hex | undefined> => {
    expect(to).toBe(MULTICALL3);
    requests.push(data);
    if (answer instanceof Error) throw answer;
    return await Promise.resolve(answer);
  },
});

test("reads everything with one multicall", async () => {
  const requests: Hex[] = [];
  const returned = [word(18n), word(1n), abiText("TKN"), abiText("Token")];
  const result = returned.map((returnData) => ({ success: true, returnData }));
  const answer = encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result });
  expect(await readTokenMetadata(createNode(answer, requests), MULTICALL3, TOKEN)).toEqual({
    symbol: "TKN",
    name: "Token",
    decimals: 18,
  });
  expect(requests).toHaveLength(1);
  const { args } = decodeFunctionData({ abi: multicall3Abi, data: requests[0] ?? "0x" });
  const calls = (args?.[0] ?? []) as readonly { readonly target: string; readonly callData: Hex }[];
  expect(calls.map(({ target }) => target.toLowerCase())).toEqual([TOKEN, TOKEN, TOKEN, TOKEN]);
  // decimals(), balanceOf(address), symbol(), name()
  expect(calls.map(({ callData }) => callData.slice(0, 10))).toEqual([
    "0x313ce567",
    "0x70a08231",
    "0x95d89b41",
    "0x06fdde03",
  ]);
});

test("a token that leaves no gas for the multicall is not a token", async () => {
  expect(await readTokenMetadata(createNode(undefined), MULTICALL3, TOKEN)).toBeUndefined();
});

test("a node that does not answer, or has no multicall, proves nothing about the token", async () => {
  const fault = new RpcFault({ kind: "network", method: "eth_call", reason: "gone" });
  await expect(readTokenMetadata(createNode(fault), MULTICALL3, TOKEN)).rejects.toBe(fault);
  await expect(readTokenMetadata(createNode("0x"), MULTICALL3, TOKEN)).rejects.toMatchObject({
    kind: "inconsistent",
  });
});
