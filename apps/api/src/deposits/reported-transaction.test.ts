import { ServiceError, type Hex } from "@causeway/domain";
import { formatTransactionId } from "@causeway/families";
import { expect, test } from "vitest";
import { ORIGIN, quoteWorld } from "../../../../test/fakes/quote-world.ts";
import { aConnectedNonEvmChain } from "../../../../test/fakes/non-evm-chains.ts";
import { readReport } from "./reported-transaction.ts";

const { chains } = quoteWorld({
  nonEvmChains: [aConnectedNonEvmChain("svm"), aConnectedNonEvmChain("bvm"), aConnectedNonEvmChain("hypevm")],
});
const SOLANA = 792_703_809;
const BITCOIN = 8_253_038;
const HYPERLIQUID = 1_337;

const signature: Hex = `0x${"5e".repeat(64)}`;
const hash: Hex = `0x${"ab".repeat(32)}`;

test("reads a transaction id in the format of its chain", () => {
  for (const [chainId, txHash, id] of [
    [SOLANA, formatTransactionId({ vmType: "svm" }, signature), signature],
    [BITCOIN, "ab".repeat(32), hash],
    [HYPERLIQUID, hash, hash],
    [ORIGIN, hash.toUpperCase().replace("0X", "0x"), hash],
  ] as const)
    expect(readReport(chains, { chainId, txHash, requestId: "0x01" })).toEqual({
      chainId,
      txHash: id,
      requestId: "0x01",
    });
});

test("refuses an id of another chain family or of an unconfigured chain, naming the field", () => {
  const fieldOf = (chainId: number, txHash: string): unknown => {
    try {
      readReport(chains, { chainId, txHash });
    } catch (error) {
      if (error instanceof ServiceError) return [error.code, error.facts.field];
    }
    return undefined;
  };
  expect(fieldOf(SOLANA, hash)).toEqual(["INVALID_REQUEST", "txHash"]);
  expect(fieldOf(ORIGIN, "ab".repeat(32))).toEqual(["INVALID_REQUEST", "txHash"]);
  expect(fieldOf(BITCOIN, formatTransactionId({ vmType: "svm" }, signature))).toEqual([
    "INVALID_REQUEST",
    "txHash",
  ]);
  expect(fieldOf(5, hash)).toEqual(["UNSUPPORTED_CHAIN", "chainId"]);
});
