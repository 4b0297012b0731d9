import { isHttpFault } from "@causeway/chains";
import type { TransferChain } from "../../chains/chains.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { type SlotCase, advanceSlots } from "../advance-slots.ts";
import { payerOf } from "../payers/index.ts";
import { observeTransfer, transferLane } from "../payers/transfer.ts";

/** Slots tracked at once. */
const AT_ONCE = 8;

/**
 * Tracks every unsettled payment of a non-EVM chain. One payment's fault does not delay the others.
 * @throws Error caused by the first HTTP fault, or else the first fault, after the round; the next round
 * retries
 */
export async function trackNonEvm(services: WorkerServices, connected: TransferChain): Promise<void> {
  const { chain, connection } = connected;
  const { enginePolicy: policy, clock } = services;
  const payer = payerOf(services, { chainId: chain.id, sender: connection.solver });
  const lane = transferLane(connected, policy);
  const slots = await services.reads.unsettledSlots(chain.id, connection.solver);
  const faults: unknown[] = [];
  for (let start = 0; start < slots.length; start += AT_ONCE) {
    const cases: SlotCase[] = [];
    await Promise.all(
      slots.slice(start, start + AT_ONCE).map(async (slot) => {
        try {
          const seen = await observeTransfer(services, connected, slot);
          cases.push({ slot, seen, lane, policy, nowMs: clock.nowMs() });
        } catch (error) {
          faults.push(error);
        }
      }),
    );
    faults.push(...(await advanceSlots(services, payer, cases)).faults);
  }
  if (faults.length > 0)
    throw new Error(`maintenance failed for ${faults.length} payments on ${chain.name}`, {
      cause: faults.find(isHttpFault) ?? faults[0],
    });
}
