import type { BlockRef } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Slot } from "../db/records.port.ts";
import { type SlotCase, advanceSlots } from "./advance-slots.ts";
import type { LaneFacts, Observation, NonceState } from "./next-move.ts";
import { isUsedByOthers, observeMined, observeUsed, type Trail, trailOf } from "./payers/evm.ts";
import { payerOf } from "./payers/index.ts";

/**
 * Compares a chain's lanes with the chain after a new head: which nonces are mined, orphaned or final. Reads
 * one nonce count per lane, and receipts only for nonces below that count.
 * @param reorged blocks were dropped since the last call: nodes then also drop pending transactions, so all
 * open slots are sent again
 * @param blocks canonical blocks as the watcher knows them, ending with the head
 * @returns whether a slot may be open now
 * @throws the first fault, after all other slots were handled: the next head retries
 */
export async function trackLane(
  services: WorkerServices,
  connected: ConnectedChain,
  blocks: readonly BlockRef[],
  { reorged }: { readonly reorged: boolean } = { reorged: false },
): Promise<boolean> {
  const { chain } = connected;
  const trail = trailOf(blocks, chain.finalityBlocks);
  if (trail === undefined) return true;
  // One query for all lanes: most heads change none of them.
  const slots = await services.reads.slotsToTrack(chain.id, trail);
  for (const [sender, ofSender] of Map.groupBy(slots, (slot) => slot.sender))
    await trackSender(services, connected, { sender, slots: ofSender }, trail, reorged);
  return slots.length > 0;
}

async function trackSender(
  services: WorkerServices,
  connected: ConnectedChain,
  { sender, slots }: { readonly sender: Address; readonly slots: readonly Slot[] },
  trail: Trail,
  reorged: boolean,
): Promise<void> {
  const payer = {
    ...payerOf(services, { chainId: connected.chain.id, sender }),
    isUsedByOthers: async (slot: Slot) => await isUsedByOthers(services, connected, slot, trail),
  };
  const { enginePolicy: policy, clock } = services;
  const faults: unknown[] = [];
  const advance = async (
    cases: readonly (ObservedNonce & { readonly slot: Slot })[],
  ): Promise<readonly Slot[]> => {
    const nowMs = clock.nowMs();
    const facts = cases.map(({ slot, seen, nonceState }): SlotCase => {
      const lane: LaneFacts = { ...USED_NONCE_FACTS, nonceState, finalBlock: trail.finalBlock };
      return { slot, seen, lane, policy, nowMs };
    });
    const advanced = await advanceSlots(services, payer, facts, trail.head.number);
    faults.push(...advanced.faults);
    return advanced.orphaned;
  };
  const mined = slots.filter(({ state }) => state === "mined");
  const orphaned = await advance(
    mined.map((slot) => ({ slot, seen: observeMined(slot, trail), nonceState: "used" })),
  );
  const open = [...slots.filter(({ state }) => state === "open"), ...orphaned];
  if (open.length > 0 && (reorged || orphaned.length > 0))
    await services.uow.run((tx) => tx.lanes.forgetBroadcasts(open.map(({ id }) => id)));
  const used = open.length > 0 ? await connected.connection.reader.nonce(sender, "latest") : 0;
  const seen = await Promise.all(
    open.map(async (slot) => {
      if (slot.nonce >= used) return [];
      try {
        return [{ slot, ...(await observeUsed(connected, slot, trail)) }];
      } catch (error) {
        faults.push(error);
        return [];
      }
    }),
  );
  await advance(seen.flat());
  if (faults.length > 0) throw faults[0];
}

interface ObservedNonce {
  readonly seen: readonly Observation[];
  readonly nonceState: NonceState;
}

/** The lane's facts for slots whose nonce is used: they need no new attempt. */
const USED_NONCE_FACTS = {
  replacement: "impossible",
  cancelable: "never",
  patienceMs: 0,
  isBeingSent: false,
} as const;
