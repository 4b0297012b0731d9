import fc from "fast-check";
import { expect, test } from "vitest";
import { ServiceError } from "../errors.ts";
import type { Hex } from "../ids/hex.ts";
import {
  parseAccount,
  parseAnyAccount,
  parseAnyTransaction,
  parseCurrency,
  parseTransaction,
  spellAddress,
  spellTransaction,
} from "./spelling.ts";

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
      expect(parseAccount(svm, spellAddress(svm, key), "user")).toBe(key);
      expect(parseAccount(evm, spellAddress(evm, account), "user")).toBe(account);
      expect(parseAccount(hypevm, spellAddress(hypevm, account), "user")).toBe(account);
      expect(parseTransaction(svm, spellTransaction(svm, signature))).toBe(signature);
      expect(parseTransaction(bvm, spellTransaction(bvm, key))).toBe(key);
      expect(parseTransaction(evm, spellTransaction(evm, key))).toBe(key);
      for (const network of [bvm, regtest])
        for (const script of [`0x00${account.slice(2)}`, `0x01${key.slice(2)}`] as Hex[])
          expect(parseAccount(network, spellAddress(network, script), "user")).toBe(script);
    }),
  );
});

test("on EVM chains the format equals the stored bytes", () => {
  const account: Hex = `0x${"ab".repeat(20)}`;
  expect(spellAddress(evm, account)).toBe(account);
  expect(spellTransaction(evm, `0x${"cd".repeat(32)}`)).toBe(`0x${"cd".repeat(32)}`);
  expect(parseAccount(evm, account.toUpperCase().replace("0X", "0x"), "user")).toBe(account);
});

test("a Bitcoin test network uses its own address format only", () => {
  const script: Hex = `0x00${"75".repeat(20)}`;
  expect(spellAddress(regtest, script)).toMatch(/^bcrt1q/);
  expect(spellAddress(bvm, script)).toMatch(/^bc1q/);
  expect(codeOf(() => parseAccount(regtest, spellAddress(bvm, script), "recipient"))).toBe(
    "INVALID_ADDRESS recipient: recipient must be an address on Bitcoin",
  );
  expect(parseAccount(bvm, spellAddress(bvm, script).toUpperCase(), "user")).toBe(script);
});

test("refuses an address of another family, naming the field", () => {
  const account = `0x${"ab".repeat(20)}`;
  const key = spellAddress(svm, `0x${"ab".repeat(32)}`);
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
  expect(spellAddress(regtest, `0x${"00".repeat(20)}`)).toBe("bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8");
});

test("without a chain, the format alone determines the address", () => {
  const key: Hex = `0x${"ab".repeat(32)}`;
  expect(parseAnyAccount(spellAddress(svm, key))).toBe(key);
  expect(parseAnyAccount(spellAddress(bvm, `0x01${"ab".repeat(32)}`))).toBe(`0x01${"ab".repeat(32)}`);
  expect(parseAnyAccount(`0x${"AB".repeat(20)}`)).toBe(`0x${"ab".repeat(20)}`);
  expect(parseAnyAccount(spellAddress(regtest, `0x00${"75".repeat(20)}`))).toBe(`0x00${"75".repeat(20)}`);
  expect(parseAnyAccount("nobody")).toBeUndefined();
  const signature: Hex = `0x${"cd".repeat(64)}`;
  expect(parseAnyTransaction(spellTransaction(svm, signature))).toBe(signature);
  expect(parseAnyTransaction("cd".repeat(32))).toBe(`0x${"cd".repeat(32)}`);
  expect(parseAnyTransaction("cd".repeat(31))).toBeUndefined();
});

test("returns bytes that are not an address of the chain unchanged", () => {
  expect(spellAddress(svm, `0x${"00".repeat(20)}`)).toBe(`0x${"00".repeat(20)}`);
});
