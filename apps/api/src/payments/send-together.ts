import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Slot } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { type EvmServices, evmPayer, signTogether } from "./payers/evm.ts";
import { sendSlot } from "./send-slot.ts";
import { asError } from "./share-commit.ts";

export type SendServices = EvmServices & Pick<Services, "slotsInHand">;

/**
 * Signs new slots of one lane, stores all bytes in one commit, broadcasts them at once and records the nodes'
 * answers in one commit.
 * @returns by slot, the error that prevented a broadcast; a retry of the slot sends it again
 */
export async function sendTogether(
  services: SendServices,
  connected: ConnectedChain,
  slots: readonly Slot[],
): Promise<ReadonlyMap<string, Error>> {
  for (const { id } of slots) services.slotsInHand?.add(id);
  try {
    const move = { kind: "sign", attempt: "pay", why: "unsigned" } as const;
    const signed = await signTogether(
      services,
      connected,
      slots.map((slot) => ({ slot, move })),
    );
    const sent = slots.flatMap((slot) => {
      const attempt = signed.get(slot.id);
      return typeof attempt === "object" && !(attempt instanceof Error) ? [{ slot, attempt }] : [];
    });
    const errors = new Map(await evmPayer(services, connected).send(sent));
    await Promise.all(
      slots.map(async ({ id }) => {
        const end = signed.get(id);
        if (end instanceof Error) errors.set(id, end);
        // Another process signed it first, so its bytes are the ones to send.
        if (end === "moved")
          await sendSlot(services, id).catch((error: unknown) => errors.set(id, asError(error)));
      }),
    );
    return errors;
  } finally {
    for (const { id } of slots) services.slotsInHand?.delete(id);
  }
}
