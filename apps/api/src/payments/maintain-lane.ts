import type { ConnectedChain } from "../chains/chains.port.ts";
import { drainingSigners } from "../chains/index.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { type SlotCase, advanceSlots } from "./advance-slots.ts";
import { fillNonceGap } from "./fill-nonce-gap.ts";
import { observeOpen } from "./payers/evm.ts";
import { payerOf } from "./payers/index.ts";

/** The slots with the lowest nonces are maintained first; later slots get their turn in later rounds. */
const MAX_SLOTS_PER_ROUND = 200;

/**
 * Maintains the lanes of a chain, also those of former keys: sends payments that a dead process left unsent,
 * rebroadcasts, bumps fees of stuck transactions, and cancels payments that must not be made. One slot's
 * fault does not delay the others.
 * @throws RpcFault when the lane cannot be compared with its chain; after the round, an Error caused by the
 * first fault of a slot. The next round retries.
 */
export async function maintainLane(services: WorkerServices, connected: ConnectedChain): Promise<void> {
  const { chain, connection, pulse } = connected;
  const { enginePolicy: policy, clock } = services;
  const faults: unknown[] = [];
  const senders = drainingSigners(services).map(({ address }) => address);
  // Before the slots are read: a slot whose sending ends in between could otherwise look unsent.
  const beingSent = new Set(services.slotsBeingSent?.keys());
  const open = await services.reads.openSlots(chain.id, ...senders);
  for (const [sender, slots] of Map.groupBy(open, (slot) => slot.sender)) {
    const payer = payerOf(services, { chainId: chain.id, sender });
    const used = await connection.reader.nonce(sender, "latest");
    const prices = pulse.gasPrices();
    await fillNonceGap(services, connected, { sender, used, prices }, slots).catch((error: unknown) =>
      faults.push(error),
    );
    const replacement = { prices, capWei: chain.fees.maxFeePerGasWei };
    const lane = { replacement, cancelable: "always", patienceMs: policy.stuckAfterMs } as const;
    const cases = slots
      .filter(({ nonce }) => nonce >= used)
      .slice(0, MAX_SLOTS_PER_ROUND)
      .map((slot): SlotCase => {
        const nonceState = slot.nonce === used ? "next" : "later";
        const facts = { ...lane, nonceState, isBeingSent: beingSent.has(slot.id) } as const;
        return { slot, seen: observeOpen(slot), lane: facts, policy, nowMs: clock.nowMs() };
      });
    faults.push(...(await advanceSlots(services, payer, cases)).faults);
  }
  const [first] = faults;
  if (faults.length > 0)
    throw new Error(`maintenance failed for ${faults.length} slots of the lane`, { cause: first });
}
