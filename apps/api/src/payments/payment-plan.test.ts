import { NATIVE_CURRENCY } from "@causeway/domain";
import { expect, test } from "vitest";
import type { ConnectedChain } from "../chains/chains.port.ts";
import { gasAllowance, planPayment } from "./payment-plan.ts";

const GWEI = 10n ** 9n;
const ETH = { decimals: 18, priceUsd: 2_000n * 10n ** 18n };

function aChain(simulatedGas: bigint, baseFeePerGas = GWEI): ConnectedChain {
  const prices = { baseFeePerGas, maxPriorityFeePerGas: 0n, maxFeePerGas: 2n * baseFeePerGas };
  return {
    chain: { id: 1, contracts: { router: "0x01" }, fees: { flatUsd: 2n * 10n ** 16n } },
    connection: { reader: { simulate: async () => ({ kind: "ok", gas: simulatedGas }) } },
    pulse: { gasPrices: () => prices },
  } as unknown as ConnectedChain;
}

const payment = {
  leg: { kind: "fill", id: `0x${"aa".repeat(32)}`, requestId: `0x${"aa".repeat(32)}` },
  currency: NATIVE_CURRENCY,
  amount: 1n,
  recipient: `0x${"bb".repeat(20)}`,
  orderId: `0x${"cc".repeat(32)}`,
  cancelAfterMs: 1,
  toContract: false,
} as const;

const signer = {
  address: `0x${"dd".repeat(20)}`,
  signDigest: () => Promise.reject(new Error("nothing is signed")),
} as const;

test("allows three times the priced gas, and what the flat fee buys in addition", () => {
  // $0.02 at $2,000 per ETH is 1e13 wei: 10,000 gas at 1 gwei.
  expect(gasAllowance(aChain(0n), 22_000n, ETH)).toBe(76_000n);
  expect(gasAllowance(aChain(0n, 10n * GWEI), 22_000n, ETH)).toBe(67_000n);
  expect(gasAllowance(aChain(0n, GWEI / 100n), 22_000n, ETH), "where gas is cheap, plenty").toBe(1_066_000n);
});

test("does not plan a payment that would exceed its gas allowance", async () => {
  const kinds = await Promise.all(
    [76_000n, 76_001n].map(
      async (gas) => (await planPayment({ signer }, aChain(gas), { ...payment, maxGas: 76_000n })).kind,
    ),
  );
  expect(kinds).toEqual(["ready", "tooExpensive"]);
});
