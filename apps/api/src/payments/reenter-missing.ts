import type { Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { isUnentered } from "./journal-entry.ts";
import type { Lane } from "./payers/payer.ts";
import type { Entered } from "./payment-journal.port.ts";
import { isGenuine } from "./policy/signed-payment.ts";

/** Kinds of payments whose contracts run them once: they are made without the journal. */
const UNJOURNALED: ReadonlySet<string> = new Set(["hub", "payout"]);

/**
 * Enters broadcast payments again that the journal has lost: a failover of Redis loses its newest entries,
 * while the database still has their rows. Call only for a reconciled lane that the journal knows: on another
 * one, the entries would hide what was lost.
 */
export async function reenterMissing(
  { reads, journal, events, chains }: Pick<WorkerServices, "reads" | "journal" | "events" | "chains">,
  { chainId, sender }: Lane,
): Promise<void> {
  if (journal === undefined) return;
  const sent = (await reads.unsettledSlots(chainId, sender)).flatMap(enteredOf);
  if (sent.length === 0) return;
  try {
    const newest = sent.map(({ slot: { nonce }, attempt: { raw } }) => ({ nonce, raw }));
    const missing = await journal.missing(chainId, sender, newest);
    for (const one of sent) {
      if (!missing.has(one.slot.nonce)) continue;
      const { slot, attempt } = one;
      // An id that the chain gave later is not that of the bytes: such an entry could not be restored.
      const genuine = await Promise.all(slot.attempts.map((signed) => isGenuine({ chains }, slot, signed)));
      if (genuine.every(Boolean)) await journal.enter([one], attempt.firstBroadcastAtMs ?? slot.createdAtMs);
    }
  } catch (error) {
    events.fault("journal_fault", error, { chainId, sender });
  }
}

/**
 * The payment with its bytes up to the newest that were broadcast: a node may have older ones although it
 * confirmed none. Empty if none were broadcast: they are entered before they are.
 */
function enteredOf(slot: Slot): readonly Entered[] {
  if (UNJOURNALED.has(slot.leg.kind)) return [];
  const last = slot.attempts.findLastIndex((attempt) => !isUnentered({ slot, attempt }));
  const attempt = slot.attempts[last];
  if (attempt === undefined) return [];
  return [{ slot: { ...slot, attempts: slot.attempts.slice(0, last + 1) }, attempt }];
}
