import { decodeBitcoinAddress } from "@causeway/families";
import { addressBytesOfScript } from "@causeway/families/bitcoin";
import { p2wpkh } from "@scure/btc-signer";
import { pubECDSA } from "@scure/btc-signer/utils.js";
import { expect, test } from "vitest";
import { hexOf } from "@causeway/families/bitcoin";
import { depositKeys, depositPath, depositPrivateKeys, scriptAt } from "./deposit-keys.ts";

// The account of the test vectors of BIP 84: m/84'/0'/0' of the seed words "abandon … about".
const ZPUB =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
const ZPRV =
  "zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm1yYNZKEm7z6qUWCroSQnE";
/** Another key, in the format of test networks (test vector 1 of BIP 32). */
const TPUB =
  "tpubD6NzVbkrYhZ4XgiXtGrdW5XDAPFCL9h7we1vwNCpn8tGbBcgfVYjXyhWo4E1xkh56hjod1RhGjxbaTLV3X4FyWuejifB9jusQ46QzG87VKp";
const ORDER = `0x${"12".repeat(32)}` as const;

const addressOf = (script: string): string | undefined =>
  decodeBitcoinAddress("mainnet", addressBytesOfScript(script) ?? "0x");

test.each([
  [[0, 0], "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"],
  [[0, 1], "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"],
  [[1, 0], "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"],
])("derives the address of BIP 84 at path %j", (path, address) => {
  expect(addressOf(scriptAt("mainnet", ZPUB, path))).toBe(address);
});

test("an order's path is the first 124 bits of its id, in four non-hardened indexes", () => {
  const path = depositPath(`0x${"f".repeat(31)}0${"0".repeat(32)}`);
  expect(path).toEqual([0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff]);
  expect(depositPath(`0x${"0".repeat(30)}10${"f".repeat(32)}`)).toEqual([0, 0, 0, 1]);
});

test("the extended private and public keys derive the same address for an order", () => {
  const keyOf = depositPrivateKeys("mainnet", ZPRV, ZPUB);
  const script = depositKeys("mainnet", ZPUB).scriptOf(ORDER);
  expect(hexOf(p2wpkh(pubECDSA(keyOf(ORDER))).script)).toBe(script);
  expect(depositKeys("mainnet", ZPUB).addressOf(ORDER)).toBe(`0x00${script.slice(4)}`);
  expect(script).toBe(scriptAt("mainnet", ZPUB, depositPath(ORDER)));
});

test("refuses keys of another network, private keys as public ones, and keys that do not match", () => {
  expect(() => depositKeys("mainnet", TPUB)).toThrow("must be an extended key of mainnet");
  expect(() => depositKeys("regtest", ZPUB)).toThrow("must be an extended key of regtest");
  expect(() => depositKeys("mainnet", ZPRV)).toThrow("must be an extended public key");
  expect(() => depositPrivateKeys("mainnet", ZPUB, ZPUB)).toThrow("must be an extended private key");
  expect(() => depositPrivateKeys("regtest", ZPRV, TPUB)).toThrow(/^DEPOSIT_ADDRESS_BITCOIN_XPRV must be/);
  for (const text of ["", "xpub", "zprv"]) expect(() => depositKeys("mainnet", text)).toThrow(RangeError);
});
