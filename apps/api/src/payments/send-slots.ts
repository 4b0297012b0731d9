import type { Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { payerOf } from "./payers/index.ts";
import type { Payer } from "./payers/payer.ts";
import { signAndSend } from "./sign-and-send.ts";

/**
 * {@link sendSlots} for one slot.
 * @throws the error that prevented it; a retry or maintenance sends the slot
 */
export async function sendSlot(services: WorkerServices, slot: Slot): Promise<void> {
  const error = (await sendSlots(services, payerOf(services, slot), [slot], { isNew: false })).get(slot.id);
  if (error !== undefined) throw error;
}

/**
 * Sends new slots of one lane, and those that a dead process left unsent: signs, commits all bytes, then
 * broadcasts them. Safe to call any time from any number of processes. Slots that were sent before, or are to
 * be canceled, are left to maintenance of the lane.
 * @param of.isNew this process has just planned them
 * @returns by slot, the error that prevented a broadcast; a retry of the slot sends it again
 */
export async function sendSlots(
  services: Pick<WorkerServices, "reads" | "slotsBeingSent">,
  payer: Payer,
  slots: readonly Slot[],
  { isNew }: { readonly isNew: boolean },
): Promise<ReadonlyMap<string, Error>> {
  countBeingSent(services, slots, 1);
  try {
    const unsent = slots.filter(isUnsent);
    const move = { kind: "sign", attempt: "pay", why: "unsigned" } as const;
    const toSign = unsent
      .filter(({ attempts }) => attempts.length === 0)
      .map((slot) => ({ slot, move, isNew }));
    const { signed, errors } = await signAndSend(payer, toSign, unsent.flatMap(newestAttempt));
    // Another process signed it first, so its bytes are the ones to send, if the slot still needs them.
    const moved = unsent
      .filter(({ id }) => signed.get(id) === "moved")
      .map(async ({ id }) => await services.reads.slot(id));
    const signedElsewhere = (await Promise.all(moved)).flatMap((slot) =>
      slot && isUnsent(slot) ? newestAttempt(slot) : [],
    );
    return signedElsewhere.length === 0
      ? errors
      : new Map([...errors, ...(await payer.send(signedElsewhere))]);
  } finally {
    countBeingSent(services, slots, -1);
  }
}

/** Counts the runs that send a slot: two runs of a job may send the same one. */
function countBeingSent(
  { slotsBeingSent }: Pick<WorkerServices, "slotsBeingSent">,
  slots: readonly Slot[],
  change: 1 | -1,
): void {
  for (const { id } of slots) {
    const runs = (slotsBeingSent?.get(id) ?? 0) + change;
    if (runs > 0) slotsBeingSent?.set(id, runs);
    else slotsBeingSent?.delete(id);
  }
}

function isUnsent({ state, cancelReason, attempts }: Slot): boolean {
  return state === "open" && cancelReason === undefined && attempts.at(-1)?.broadcastAtMs === undefined;
}

function newestAttempt(slot: Slot) {
  const attempt = slot.attempts.at(-1);
  return attempt === undefined ? [] : [{ slot, attempt }];
}
