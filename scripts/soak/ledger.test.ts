import { expect, test } from "vitest";
import { burned, differences, imbalances, Ledger, writeGas } from "./ledger.ts";

const chain = 7;
const native = "0x00";

test("charges gas to the sender, burns the base fee and credits the rest to the fee recipient", () => {
  const ledger = new Ledger();
  const gas = { gasUsed: 21_000n, effectiveGasPrice: 10n, baseFeePerGas: 7n };
  writeGas(ledger, chain, native, { from: "0xA", feeRecipient: "0xF" }, gas);
  expect(ledger.get(chain, native, "0xa")).toBe(-210_000n);
  expect(ledger.get(chain, native, burned)).toBe(147_000n);
  expect(ledger.get(chain, native, "0xf")).toBe(63_000n);
  expect(imbalances(ledger)).toEqual([]);
});

test("an account that appears on one side only is a difference", () => {
  const observed = new Ledger();
  const expected = new Ledger();
  expected.move(chain, "usdc", "0xa", "0xb", 5n);
  observed.move(chain, "usdc", "0xa", "0xc", 5n);
  expect(differences(observed, expected)).toEqual([
    { chainId: chain, currency: "usdc", account: "0xc", amount: 5n, expected: 0n },
    { chainId: chain, currency: "usdc", account: "0xb", amount: 0n, expected: 5n },
  ]);
});

test("reports one unaccounted unit in the sum of its currency only", () => {
  const ledger = new Ledger();
  ledger.move(chain, "usdc", "0xa", "0xb", 5n);
  ledger.move(chain, "tst", "0xa", "0xb", 9n);
  ledger.add(chain, "tst", "0xb", -1n);
  expect(imbalances(ledger)).toEqual([{ chainId: chain, currency: "tst", sum: -1n }]);
});

test("ignores the case of addresses", () => {
  const [first, second] = [new Ledger(), new Ledger()];
  first.add(chain, "0xAB", "0xCD", 1n);
  second.add(chain, "0xab", "0xcd", 1n);
  expect(differences(first, second)).toEqual([]);
});
