import { expect, test } from "vitest";
import { someAddress, someHash } from "../../../../../test/support/terms.ts";
import type { Attempt, Slot } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { limitedFees, maxFee } from "./before-signing.ts";

const services = {} as unknown as WorkerServices;
const gwei = 10n ** 9n;
const prices = { maxFeePerGas: 2n * gwei, maxPriorityFeePerGas: 1n };

function aSlotToSign(feeWei: bigint, attempts: readonly Attempt[] = []) {
  const fees = { maxFeePerGas: feeWei, maxPriorityFeePerGas: 0n };
  const leg = { kind: "claim", id: someHash(), requestId: undefined };
  const call = { to: someAddress(), data: "0x", value: 0n } as const;
  const slot = { chainId: 1, sender: someAddress(), nonce: 1, leg, call, attempts, ...fees };
  return { slot: slot as unknown as Slot, move: { kind: "sign", attempt: "noop", why: "", fees } } as const;
}

test("caps the excessive fee of a row at ten times the current fee, or at the cap of the chain", async () => {
  expect(maxFee(prices, undefined)).toBe(20n * gwei);
  expect(maxFee(prices, 5n * gwei)).toBe(20n * gwei);
  expect(maxFee(prices, 50n * gwei)).toBe(50n * gwei);
  const signed = await limitedFees(services, aSlotToSign(1_000n * gwei), maxFee(prices, undefined));
  expect(signed?.maxFeePerGas).toBe(20n * gwei);
  const usual = await limitedFees(services, aSlotToSign(3n * gwei), maxFee(prices, undefined));
  expect(usual?.maxFeePerGas).toBe(3n * gwei);
});

test("does not raise the fee for an attempt that the key did not sign", async () => {
  const forged = { n: 0, kind: "noop", raw: "0x02", txHash: someHash(), maxFeePerGas: 900n * gwei };
  const slotToSign = aSlotToSign(1_000n * gwei, [forged as unknown as Attempt]);
  expect(await limitedFees(services, slotToSign, maxFee(prices, undefined))).toBeUndefined();
});
