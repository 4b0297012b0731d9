import { NONCE_MAPPING_GRACE_SECONDS, type Address, type Hex32 } from "@causeway/domain";
import type { NonceMappingAnswer } from "../../nonce-mappings.ts";

/** The purpose of a transfer, according to the hub. */
export type TransferPurpose =
  | { readonly kind: "for"; readonly id: Hex32; readonly depositor: Address | undefined }
  /** The transfer has no purpose and can never get one. */
  | { readonly kind: "nothing" }
  /** The nonce is not mapped yet, but still can be. */
  | { readonly kind: "open" };

const NO_ID: Hex32 = `0x${"0".repeat(64)}`;

/**
 * Determines a transfer's purpose from a nonce mapping that was set within an hour of the transfer's block,
 * by the hub's clock. While the hub's final block is within that hour, the purpose is open; afterwards, no
 * mapping can be in time. The local clock is not used, so every oracle gives the same answer.
 *
 * @param answer undefined: the hub was not queried
 * @param time Unix seconds of the transfer's block
 */
export function purposeOf(answer: NonceMappingAnswer | undefined, time: bigint): TransferPurpose {
  if (answer === undefined) return { kind: "nothing" };
  const { entry, asOf } = answer;
  const latest = time + BigInt(NONCE_MAPPING_GRACE_SECONDS);
  if (entry !== undefined)
    return entry.setAt <= latest && entry.id !== NO_ID
      ? { kind: "for", id: entry.id, depositor: entry.depositor }
      : { kind: "nothing" };
  return asOf <= latest ? { kind: "open" } : { kind: "nothing" };
}
