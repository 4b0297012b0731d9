import type { SignatureStatus } from "./answers.ts";

/** Number of slots until a slot is final, and the nominal time of a slot. */
const SLOTS_TO_FINALITY = 32n;
const SLOT_SECONDS = 0.4;

/** Nominal seconds until a new slot is final. */
export const RETRY_AFTER_SECONDS: number = Math.ceil(Number(SLOTS_TO_FINALITY) * SLOT_SECONDS);

/**
 * Seconds until a retry for a transaction in a slot that is not final yet. Pure.
 * @param finalSlot the newest final slot
 */
export function retryAfterSeconds({ slot }: Pick<SignatureStatus, "slot">, finalSlot: bigint): number {
  const missing = slot - finalSlot;
  if (missing <= 0n) return 1;
  const slots = missing < SLOTS_TO_FINALITY ? missing : SLOTS_TO_FINALITY;
  return Math.max(1, Math.ceil(Number(slots) * SLOT_SECONDS));
}
