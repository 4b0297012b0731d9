import type { Slot } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { type EvmServices, evmPayer } from "./payers/evm.ts";
import type { Payer } from "./payers/payer.ts";

/**
 * Sends a slot's newest bytes: signs them if needed, commits them, then broadcasts. Safe to call any time
 * from any number of processes: bytes are committed before they are broadcast, and rebroadcasting is
 * harmless.
 * @throws RpcFault if the node is unreachable; the slot stays as it is and lane maintenance retries
 */
export async function sendSlot(
  services: EvmServices & Pick<Services, "slotsInHand">,
  slotId: string,
): Promise<void> {
  services.slotsInHand?.add(slotId);
  try {
    const slot = await services.reads.slot(slotId);
    if (slot === undefined) return;
    const connected = services.chains.get(slot.chainId);
    if (connected === undefined)
      throw new Error(`chain ${slot.chainId} of slot ${slot.id} is not configured`);
    await sendNewest(services, evmPayer(services, connected), slot);
  } finally {
    services.slotsInHand?.delete(slotId);
  }
}

/** Sends the newest bytes of an open slot, and signs the first ones if there are none. */
export async function sendNewest(
  { reads }: Pick<Services, "reads">,
  payer: Payer,
  slot: Slot,
): Promise<void> {
  if (slot.state !== "open") return;
  const newest = slot.attempts.at(-1) ?? (await signFirst(payer, slot));
  // Another process signed first, so its bytes are the ones to send, if the slot still needs them.
  const current = newest === "moved" ? await reads.slot(slot.id) : slot;
  const attempt = newest === "moved" ? current?.attempts.at(-1) : newest;
  if (current?.state !== "open" || attempt === undefined) return;
  // A canceled payment is not offered any more: a no-op of lane maintenance takes its nonce.
  if (attempt.kind === "pay" && current.cancelReason !== undefined) return;
  const error = (await payer.send([{ slot: current, attempt }])).get(slot.id);
  if (error !== undefined) throw error;
}

async function signFirst(payer: Payer, slot: Slot) {
  const attempt = slot.cancelReason === undefined ? "pay" : "noop";
  const results = await payer.sign([{ slot, move: { kind: "sign", attempt, why: "unsigned" } }]);
  const signed = results.get(slot.id);
  if (signed instanceof Error) throw signed;
  return signed === "short" || signed === "refused" ? undefined : signed;
}
