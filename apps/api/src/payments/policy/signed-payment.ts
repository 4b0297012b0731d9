import type { Hex } from "@causeway/domain";
import { parseTransaction, recoverTransactionAddress, type TransactionSerialized } from "viem";
import type { Slot } from "../../db/records.port.ts";
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
