import fc from "fast-check";
import { expect, test } from "vitest";
import { ServiceError, type Hex } from "@causeway/domain";
import {
  parseAccount,
  parseAnyAccount,
  parseAnyTransaction,
  parseCurrency,
  parseTransaction,
  formatAddress,
  formatTransactionId,
} from "./format.ts";

const evm = { vmType: "evm", displayName: "Base" } as const;
const svm = { vmType: "svm", displayName: "Solana" } as const;
const bvm = { vmType: "bvm", displayName: "Bitcoin", bitcoin: { network: "mainnet" } } as const;
const regtest = { ...bvm, bitcoin: { network: "regtest" } } as const;
const hypevm = { vmType: "hypevm", displayName: "Exchange" } as const;

const hex = (length: number): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code} ${error.facts.field ?? ""}: ${error.message}`;
    throw error;
  }
  return "";
}

test("formatting and parsing returns the same bytes on every kind of chain", () => {
  fc.assert(
    fc.property(hex(32), hex(20), hex(64), (key, account, signature) => {
      expect(parseAccount(svm, formatAddress(svm, key), "user")).toBe(key);
      expect(parseAccount(evm, formatAddress(evm, account), "user")).toBe(account);
      expect(parseAccount(hypevm, formatAddress(hypevm, account), "user")).toBe(account);
      expect(parseTransaction(svm, formatTransactionId(svm, signature))).toBe(signature);
      expect(parseTransaction(bvm, formatTransactionId(bvm, key))).toBe(key);
      expect(parseTransaction(evm, formatTransactionId(evm, key))).toBe(key);
      for (const network of [bvm, regtest])
        for (const script of [`0x00${account.slice(2)}`, `0x01${key.slice(2)}`] as Hex[])
          expect(parseAccount(network, formatAddress(network, script), "user")).toBe(script);
    }),
  );
});

test("on EVM chains the format equals the stored bytes", () => {
  const account: Hex = `0x${"ab".repeat(20)}`;
  expect(formatAddress(evm, account)).toBe(account);
  expect(formatTransactionId(evm, `0x${"cd".repeat(32)}`)).toBe(`0x${"cd".repeat(32)}`);
  expect(parseAccount(evm, account.toUpperCase().replace("0X", "0x"), "user")).toBe(account);
});

test("a Bitcoin test network uses its own address format only", () => {
  const script: Hex = `0x00${"75".repeat(20)}`;
  expect(formatAddress(regtest, script)).toMatch(/^bcrt1q/);
  expect(formatAddress(bvm, script)).toMatch(/^bc1q/);
  expect(codeOf(() => parseAccount(regtest, formatAddress(bvm, script), "recipient"))).toBe(
    "INVALID_ADDRESS recipient: recipient must be an address on Bitcoin",
  );
  expect(parseAccount(bvm, formatAddress(bvm, script).toUpperCase(), "user")).toBe(script);
});

test("refuses an address of another family, naming the field", () => {
  const account = `0x${"ab".repeat(20)}`;
  const key = formatAddress(svm, `0x${"ab".repeat(32)}`);
  for (const [chain, text] of [
    [svm, account],
    [svm, "0"],
    [bvm, account],
    [bvm, key],
    [evm, key],
    [hypevm, key],
    // A Hyperliquid currency is not an account there.
    [hypevm, `0x${"0".repeat(32)}`],
  ] as const)
    expect(codeOf(() => parseAccount(chain, text, "refundTo"))).toContain("INVALID_ADDRESS refundTo");
});

test("parses currencies in their own formats and refuses anything else", () => {
  expect(parseCurrency(svm, "11111111111111111111111111111111")).toBe(`0x${"00".repeat(32)}`);
  expect(parseCurrency(bvm, "bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8")).toBe(`0x${"00".repeat(20)}`);
  expect(parseCurrency(regtest, "bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8")).toBe(`0x${"00".repeat(20)}`);
  expect(parseCurrency(hypevm, `0x${"0".repeat(32)}`)).toBe(`0x${"0".repeat(32)}`);
  expect(parseCurrency(svm, `0x${"0".repeat(40)}`)).toBeUndefined();
  expect(formatAddress(regtest, `0x${"00".repeat(20)}`)).toBe("bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8");
});

test("without a chain, the format alone determines the address", () => {
  const key: Hex = `0x${"ab".repeat(32)}`;
  expect(parseAnyAccount(formatAddress(svm, key))).toBe(key);
  expect(parseAnyAccount(formatAddress(bvm, `0x01${"ab".repeat(32)}`))).toBe(`0x01${"ab".repeat(32)}`);
  expect(parseAnyAccount(`0x${"AB".repeat(20)}`)).toBe(`0x${"ab".repeat(20)}`);
  expect(parseAnyAccount(formatAddress(regtest, `0x00${"75".repeat(20)}`))).toBe(`0x00${"75".repeat(20)}`);
  expect(parseAnyAccount("nobody")).toBeUndefined();
  const signature: Hex = `0x${"cd".repeat(64)}`;
  expect(parseAnyTransaction(formatTransactionId(svm, signature))).toBe(signature);
  expect(parseAnyTransaction("cd".repeat(32))).toBe(`0x${"cd".repeat(32)}`);
  expect(parseAnyTransaction("cd".repeat(31))).toBeUndefined();
});

test("returns bytes that are not an address of the chain unchanged", () => {
  expect(formatAddress(svm, `0x${"00".repeat(20)}`)).toBe(`0x${"00".repeat(20)}`);
});
