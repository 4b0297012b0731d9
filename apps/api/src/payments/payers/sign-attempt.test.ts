import { rawKeySigner } from "@causeway/attest";
import { parseTransaction, recoverTransactionAddress } from "viem";
import { expect, test } from "vitest";
import type { Slot } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { signNew } from "./sign-attempt.ts";

const key = rawKeySigner(`0x${"11".repeat(32)}`);
const slot = {
  id: "7",
  chainId: 5,
  sender: key.address,
  nonce: 3,
  leg: { kind: "fill", id: "0x01" },
  call: { to: `0x${"22".repeat(20)}`, data: "0x", value: 9n },
  gasLimit: 21_000n,
  maxFeePerGas: 10n,
  maxPriorityFeePerGas: 1n,
  attempts: [],
} as unknown as Slot;

const NO_LIMIT = {
  key: undefined,
  chainId: undefined,
  transactionUsd: undefined,
  maxFeePerGasWei: undefined,
};
const DAILY = { ...NO_LIMIT, dayUsd: 10n ** 18n };

const services = (changes: Partial<WorkerServices> = {}): WorkerServices =>
  ({ signer: key, executor: undefined, clock: { nowMs: () => 1_000 }, ...changes }) as WorkerServices;

const sign = async (changes?: Partial<WorkerServices>, maxFee: () => bigint | undefined = () => 100n) =>
  await signNew(services(changes), [slot], maxFee);

test("signs the payment of a new slot with its nonce, gas and fees", async () => {
  const attempt = (await sign()).get("7");
  if (attempt === undefined) throw new Error("the payment was not signed");
  expect(attempt).toMatchObject({ n: 0, kind: "pay", maxFeePerGas: 10n, createdAtMs: 1_000 });
  const raw = attempt.raw as `0x02${string}`;
  expect(parseTransaction(raw)).toMatchObject({ chainId: 5, nonce: 3, gas: 21_000n, value: 9n });
  expect((await recoverTransactionAddress({ serializedTransaction: raw })).toLowerCase()).toBe(key.address);
});

test.each<[string, Partial<WorkerServices>, (() => bigint | undefined)?]>([
  ["the key is in another service", { signer: { address: key.address, signDigest: key.signDigest } }],
  ["the key has a limit per day", { spendingLimits: [DAILY] }],
  ["the key is not configured", { signer: rawKeySigner(`0x${"33".repeat(32)}`) }],
  [
    "gas prices are unknown",
    {},
    () => {
      throw new Error("no fresh state of the chain");
    },
  ],
])("does not sign a slot before its commit if %s", async (_why, changes, maxFee) => {
  expect(await sign({ formerSigners: [], ...changes }, maxFee)).toEqual(new Map());
});
