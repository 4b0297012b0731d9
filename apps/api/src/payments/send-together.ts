import type { ConnectedChain } from "../chains/chains.port.ts";
import type { LaneKeys } from "../chains/index.ts";
import type { Slot } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { TransitionServices } from "../requests/index.ts";
import { broadcastAll, sendSlot } from "./send-slot.ts";
import { signAttempt } from "./sign-attempt.ts";

export type SendServices = Pick<Services, "events"> &
  TransitionServices &
  LaneKeys &
  Pick<Services, "chains" | "uow" | "reads" | "slotsInHand">;

/**
 * Signs new slots of one lane, stores all bytes in one commit, broadcasts them at once and records the nodes'
 * answers in one commit.
 * @returns by slot, the error that prevented a broadcast; a retry of the slot sends it again
 * @throws if the bytes could not be stored; then none was sent
 */
export async function sendTogether(
  services: SendServices,
  connected: ConnectedChain,
  slots: readonly Slot[],
): Promise<ReadonlyMap<string, Error>> {
  if (slots.length === 0) return new Map();
  for (const { id } of slots) services.slotsInHand?.add(id);
  try {
    return await signAndBroadcast(services, connected, slots);
  } finally {
    for (const { id } of slots) services.slotsInHand?.delete(id);
  }
}

async function signAndBroadcast(
  services: SendServices,
  connected: ConnectedChain,
  slots: readonly Slot[],
): Promise<ReadonlyMap<string, Error>> {
  const signed = await Promise.all(
    slots.map(async (slot) =>
      signAttempt(services, slot, "pay", slot).then(
        (attempt) => ({ slot, attempt }),
        (error: unknown) => ({ slot, error: asError(error) }),
      ),
    ),
  );
  const attempts = signed.filter((one) => "attempt" in one);
  // Persist before broadcast: a crash here must leave the bytes findable.
  const ours = await services.uow.run((tx) =>
    tx.lanes.addAttempts(attempts.map(({ slot, attempt }) => ({ slotId: slot.id, attempt }))),
  );
  const errors = await broadcastAll(
    services,
    connected,
    attempts.filter(({ slot }) => ours.has(slot.id)),
  );
  for (const one of signed) if ("error" in one) errors.set(one.slot.id, one.error);
  // Another process signed these first, so its bytes are the ones to send.
  await Promise.all(
    attempts
      .filter(({ slot }) => !ours.has(slot.id))
      .map(async ({ slot }) => {
        await sendSlot(services, slot.id).catch((error: unknown) => errors.set(slot.id, asError(error)));
      }),
  );
  return errors;
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
