import type { SignatureStatus } from "./answers.ts";

/** Slots that follow one before it is final, and the nominal time of a slot. */
const SLOTS_TO_FINALITY = 32n;
const SLOT_SECONDS = 0.4;

/** Nominal seconds until what is new now is final. */
export const RETRY_AFTER_SECONDS: number = Math.ceil(Number(SLOTS_TO_FINALITY) * SLOT_SECONDS);

/**
 * When it may be worth to ask again about a transaction that is in a block, the final view having reached
 * `finalSlot`. Pure.
 */
export function retryAfterSeconds({ slot }: Pick<SignatureStatus, "slot">, finalSlot: bigint): number {
  const missing = slot - finalSlot;
  if (missing <= 0n) return 1;
  const slots = missing < SLOTS_TO_FINALITY ? missing : SLOTS_TO_FINALITY;
  return Math.max(1, Math.ceil(Number(slots) * SLOT_SECONDS));
}
