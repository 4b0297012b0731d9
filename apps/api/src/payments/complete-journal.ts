import type { Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { isUnentered } from "./journal-entry.ts";
import type { Lane } from "./payers/payer.ts";
import type { PaymentAttempt } from "./payment-journal.port.ts";
import { isGenuine } from "./policy/signed-payment.ts";

/** Payments of these kinds need no journal: their contracts execute each only once. */
const UNJOURNALED: ReadonlySet<string> = new Set(["hub", "payout"]);

/**
 * Adds the entries of a lane that the journal lacks: Redis loses its newest entries in a failover of its own,
 * while the database still has the rows. Enters broadcast payments again, and raises the mark: payments that
 * ended in the meantime have no entry any more, and a later restore of the database must not miss them. Does
 * nothing for a held lane, where this would hide lost payments.
 * @param mark of the lane; undefined: the journal does not know the lane
 */
export async function completeJournal(
  { reads, journal, events, chains }: Pick<WorkerServices, "reads" | "journal" | "events" | "chains">,
  { chainId, sender }: Lane,
  mark: number | undefined,
): Promise<void> {
  // Read before the lane's slots: a payment that is reserved in between has a higher nonce.
  const lane = journal && (await reads.lane(chainId, sender));
  if (journal === undefined || lane?.isReconciled !== true) return;
  const slots = await reads.unsettledSlots(chainId, sender);
  const knownNonces = knownBelow(lane.nextNonce, slots);
  const sent = slots.flatMap(broadcastPaymentOf);
  try {
    if (mark === undefined || knownNonces > mark) {
      const broadcast = Math.min(knownNonces, await reads.broadcastBelow(chainId, sender));
      if (mark === undefined || broadcast > mark) await journal.raise(chainId, sender, broadcast);
    }
    if (sent.length === 0) return;
    const newest = sent.map(({ slot: { nonce }, attempt: { raw } }) => ({ nonce, raw }));
    const missing = await journal.missing(chainId, sender, newest);
    for (const entry of sent) {
      if (!missing.has(entry.slot.nonce)) continue;
      const { slot, attempt } = entry;
      // A transaction id that the chain assigned later does not match the bytes: the entry could not be
      // restored.
      const genuine = await Promise.all(slot.attempts.map((signed) => isGenuine({ chains }, slot, signed)));
      if (genuine.every(Boolean))
        await journal.enter([entry], attempt.firstBroadcastAtMs ?? slot.createdAtMs);
    }
  } catch (error) {
    events.fault("journal_fault", error, { chainId, sender });
  }
}

/**
 * The number below which each nonce was broadcast or ended. The mark must not be above a payment that was
 * never broadcast: if a failover lost it, the lane would wait for a transaction that does not exist.
 */
function knownBelow(nextNonce: number, unsettled: readonly Slot[]): number {
  const reserved = unsettled.filter((slot) => slot.state === "open" && broadcastPaymentOf(slot).length === 0);
  return Math.min(nextNonce, ...reserved.map(({ nonce }) => nonce));
}

/**
 * The payment with its attempts up to the newest that was broadcast: a node may have older ones even if none
 * was confirmed. Empty if none was broadcast: such attempts are entered before their first broadcast.
 */
function broadcastPaymentOf(slot: Slot): readonly PaymentAttempt[] {
  if (UNJOURNALED.has(slot.leg.kind)) return [];
  const last = slot.attempts.findLastIndex((attempt) => !isUnentered({ slot, attempt }));
  const attempt = slot.attempts[last];
  if (attempt === undefined) return [];
  return [{ slot: { ...slot, attempts: slot.attempts.slice(0, last + 1) }, attempt }];
}
