import { Address, OutScript, p2pkh, p2sh, p2tr, p2wpkh, p2wsh, p2pk, Script, utils } from "@scure/btc-signer";
import { pubECDSA } from "@scure/btc-signer/utils.js";
import fc from "fast-check";
import type { BitcoinNetwork } from "@causeway/domain";
import { decodeBitcoinAddress, encodeBitcoinAddress } from "../address-codec.ts";
import { expect, test } from "vitest";
import { hexOf } from "../answers/raw-transaction.ts";
import {
  addressBytesOfScript,
  addressOfScript,
  isWitnessProgram,
  scriptOf,
  scriptOfAddress,
} from "./scripts.ts";

const testPrefixes = { pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef };
const networks = {
  mainnet: { bech32: "bc", pubKeyHash: 0, scriptHash: 5, wif: 0x80 },
  testnet: { ...testPrefixes, bech32: "tb" },
  testnet4: { ...testPrefixes, bech32: "tb" },
  signet: { ...testPrefixes, bech32: "tb" },
  regtest: { ...testPrefixes, bech32: "bcrt" },
} as const satisfies Record<BitcoinNetwork, object>;

const privateKey = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((key) => {
  const first = key[0] ?? 0;
  return first > 0 && first < 0xff;
});
const kinds = {
  "a key's hash": (key: Uint8Array) => p2pkh(pubECDSA(key)),
  "a script's hash": (key: Uint8Array) => p2sh(p2wpkh(pubECDSA(key))),
  "a key's witness program": (key: Uint8Array) => p2wpkh(pubECDSA(key)),
  "a script's witness program": (key: Uint8Array) => p2wsh(p2pk(pubECDSA(key))),
  "a Taproot key": (key: Uint8Array) => p2tr(utils.pubSchnorr(key)),
};

for (const [kind, make] of Object.entries(kinds))
  for (const [network, parameters] of Object.entries(networks) as [
    BitcoinNetwork,
    (typeof networks)["mainnet"],
  ][])
    test(`converts between address, bytes and script like @scure/btc-signer: ${kind} on ${network}`, () => {
      fc.assert(
        fc.property(privateKey, (key) => {
          const { script } = make(key);
          const text = Address(parameters).encode(OutScript.decode(script));
          const bytes = encodeBitcoinAddress(network, text);
          if (bytes === undefined) throw new Error(`${text} was refused`);
          expect(decodeBitcoinAddress(network, bytes)).toBe(text);
          expect(scriptOfAddress(bytes)).toBe(hexOf(script));
          expect(addressBytesOfScript(hexOf(script))).toBe(bytes);
          // Attestations use one format per script on every network.
          const canonical = Address(networks.mainnet).encode(OutScript.decode(script));
          expect(addressOfScript(hexOf(script))).toBe(canonical);
          expect(scriptOf(canonical)).toBe(hexOf(script));
          expect(isWitnessProgram(hexOf(script))).toBe(kind.includes("itness") || kind.includes("Taproot"));
        }),
        { numRuns: 20 },
      );
    });

test("refuses an address of another network", () => {
  const { script } = p2wpkh(pubECDSA(new Uint8Array(32).fill(7)));
  const formatFor = (network: BitcoinNetwork) => Address(networks[network]).encode(OutScript.decode(script));
  expect(encodeBitcoinAddress("regtest", formatFor("mainnet"))).toBeUndefined();
  expect(encodeBitcoinAddress("mainnet", formatFor("regtest"))).toBeUndefined();
  expect(encodeBitcoinAddress("signet", formatFor("regtest"))).toBeUndefined();
  expect(encodeBitcoinAddress("mainnet", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn")).toBeUndefined();
  expect(encodeBitcoinAddress("regtest", formatFor("regtest").toUpperCase())).toBeUndefined();
});

test("returns an address only for a script in its standard form", () => {
  const program = "11".repeat(20);
  expect(addressBytesOfScript(`0014${program}`)).toBe(`0x00${program}`);
  // The same program with a longer push opcode is another script.
  expect(addressBytesOfScript(`004c14${program}`)).toBeUndefined();
  expect(addressBytesOfScript(`76a94c14${program}88ac`)).toBeUndefined();
  expect(isWitnessProgram(`004c14${program}`)).toBe(false);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const script = hexOf(bytes);
      const address = addressBytesOfScript(script);
      if (address !== undefined) expect(scriptOfAddress(address)).toBe(script);
    }),
  );
  expect(addressOfScript(hexOf(Script.encode(["RETURN", new Uint8Array(20)])))).toBeUndefined();
});
