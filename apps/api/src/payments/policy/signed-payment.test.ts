import { rawKeySigner } from "@causeway/attest";
import { signTransaction, type NonEvmPayment } from "@causeway/chains";
import type { Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import { someAddress, someHash } from "../../../../../test/support/terms.ts";
import type { Attempt, AttemptKind } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { isGenuine } from "./signed-payment.ts";

const signer = rawKeySigner(`0x${"42".repeat(32)}`);
const otherSigner = rawKeySigner(`0x${"43".repeat(32)}`);
const call = { to: someAddress(), data: "0x1234", value: 5n } as const;
const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n };
const slot = {
  chainId: 1,
  sender: signer.address,
  nonce: 7,
  leg: { kind: "fill", id: someHash(), requestId: undefined },
  call,
  outflow: { currency: someAddress(), amount: 5n },
};
const noop = { to: signer.address, data: "0x", value: 0n } as const;
const evm = { chains: { nonEvm: () => undefined } } as unknown as WorkerServices;

async function anAttempt(
  kind: AttemptKind,
  { signedBy = signer, nonce = 7, sent = kind === "pay" ? call : noop } = {},
): Promise<Attempt> {
  const { raw, hash } = await signTransaction(
    { chainId: 1, nonce, ...sent, gas: 21_000n, ...fees },
    async (digest, preimage) => await signedBy.signDigest(digest, preimage),
  );
  const times = { createdAtMs: 1, broadcastAtMs: undefined, offeredSinceMs: undefined };
  return { n: 0, kind, raw, txHash: hash, ...fees, ...times } as Attempt;
}

test("accepts an attempt on an EVM chain if its key signed its payment, or a cancel transaction", async () => {
  expect(await isGenuine(evm, slot, await anAttempt("pay"))).toBe(true);
  expect(await isGenuine(evm, slot, await anAttempt("noop"))).toBe(true);
});

test.each<readonly [string, () => Promise<Attempt>]>([
  ["of another key", async () => await anAttempt("pay", { signedBy: otherSigner })],
  ["of another nonce", async () => await anAttempt("pay", { nonce: 8 })],
  ["of another call", async () => await anAttempt("pay", { sent: { ...call, to: someAddress() } })],
  [
    "of a payment that is called a cancel transaction",
    async () => ({ ...(await anAttempt("pay")), kind: "noop" }),
  ],
  [
    "of a cancel transaction that is called a payment",
    async () => ({ ...(await anAttempt("noop")), kind: "pay" }),
  ],
  ["with the hash of another transaction", async () => ({ ...(await anAttempt("pay")), txHash: someHash() })],
  ["with other fees", async () => ({ ...(await anAttempt("pay")), maxFeePerGas: 1_000n })],
  ["without a valid signature", async () => ({ ...(await anAttempt("pay")), raw: "0x02" as Hex })],
])("does not accept bytes %s as genuine", async (_, makeAttempt) => {
  expect(await isGenuine(evm, slot, await makeAttempt())).toBe(false);
});

test("passes the recipient, currency, amount and order to the connection of a non-EVM chain", async () => {
  const payments: NonEvmPayment[] = [];
  const isPayment = async (_attempt: unknown, payment: NonEvmPayment) => payments.push(payment) === 1;
  const services = { chains: { nonEvm: () => ({ connection: { isPayment } }) } } as unknown as WorkerServices;
  const attempt = await anAttempt("pay");
  expect(await isGenuine(services, slot, attempt)).toBe(true);
  expect(await isGenuine(services, slot, { ...attempt, kind: "noop" })).toBe(false);
  expect(payments).toEqual([
    { recipient: call.to, ...slot.outflow, orderId: call.data },
    { recipient: signer.address, ...slot.outflow, orderId: undefined },
  ]);
});
