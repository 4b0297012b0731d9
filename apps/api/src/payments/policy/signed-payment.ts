import type { Hex } from "@causeway/domain";
import {
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
  type TransactionSerializedEIP1559,
} from "viem";
import type { Attempt, Slot, SlotPlan } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { nonEvmAttemptOf, paymentOf } from "../non-evm/attempt-of.ts";
import { lower } from "./read-call.ts";

/** Whether bytes are this slot's payment, signed by its sender. Rows alone prove no signature. */
export async function isSignedPayment(
  raw: Hex,
  { chainId, nonce, sender, call }: Pick<Slot, "chainId" | "nonce" | "sender" | "call">,
): Promise<boolean> {
  try {
    const signed = parseTransaction(raw);
    const isSame =
      signed.chainId === chainId &&
      (signed.nonce ?? 0) === nonce &&
      signed.to != null &&
      lower(signed.to) === call.to &&
      (signed.data ?? "0x").toLowerCase() === call.data.toLowerCase() &&
      (signed.value ?? 0n) === call.value;
    if (!isSame) return false;
    const serializedTransaction = raw as TransactionSerialized;
    return lower(await recoverTransactionAddress({ serializedTransaction })) === sender;
  } catch {
    return false;
  }
}

/** Whether bytes are a cancel transaction of this slot, signed by its sender. */
export async function isSignedNoop(
  raw: Hex,
  { chainId, nonce, sender }: Pick<Slot, "chainId" | "nonce" | "sender">,
): Promise<boolean> {
  const call = { to: sender, data: "0x", value: 0n } as const;
  return await isSignedPayment(raw, { chainId, nonce, sender, call });
}

/**
 * Whether an attempt is what it claims to be: its bytes are signed by the lane's key, they make the payment
 * or cancel it, and its hash and fees are theirs.
 * @throws RpcFault on a non-EVM chain: unknown, the node did not answer
 */
export async function isGenuine(
  { chains }: Partial<Pick<WorkerServices, "chains">>,
  slot: Pick<SlotPlan, "chainId" | "sender" | "leg" | "call" | "outflow"> & { readonly nonce: number },
  attempt: Attempt,
): Promise<boolean> {
  const { kind, raw, txHash } = attempt;
  const connection = chains?.nonEvm?.(slot.chainId)?.connection;
  if (connection !== undefined)
    return await connection.isPayment(nonEvmAttemptOf(attempt), paymentOf(slot, kind));
  if (keccak256(raw) !== txHash || !hasFeesOf(attempt)) return false;
  return kind === "noop" ? await isSignedNoop(raw, slot) : await isSignedPayment(raw, slot);
}

function hasFeesOf({ raw, maxFeePerGas, maxPriorityFeePerGas }: Attempt): boolean {
  try {
    const signed = parseTransaction(raw as TransactionSerializedEIP1559);
    return (
      (signed.maxFeePerGas ?? 0n) === maxFeePerGas &&
      (signed.maxPriorityFeePerGas ?? 0n) === maxPriorityFeePerGas
    );
  } catch {
    return false;
  }
}
