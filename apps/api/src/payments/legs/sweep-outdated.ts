import { isFirmAt } from "@causeway/domain";
import { orderSignerOf } from "../../chains/index.ts";
import type { SlotPlan } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import type { DepositAddress, SweepRecord } from "../../deposits/addresses/deposit-addresses.port.ts";
import { awaitsSweep } from "../../deposits/index.ts";
import { whyHeld } from "../held-lanes.ts";
import { amountForDeposit } from "../plan/plan-fill.ts";

/**
 * Why the deposit of a planned sweep would be refunded: its quote held when the sweep was decided, and no
 * longer does. The funds of an open address then get a new quote instead, like funds that arrive late.
 * Undefined: the deposit would be filled, or the sweep has no alternative.
 * @param excessive why the sweep costs too much to be sent: a new quote charges current fees
 */
export async function whyOutdated(
  services: WorkerServices,
  { amount, requestId }: SweepRecord,
  { strict }: Pick<DepositAddress, "strict">,
  { chainId, sender }: Pick<SlotPlan, "chainId" | "sender">,
  excessive?: string,
): Promise<string | undefined> {
  // Funds of a strict address are deposited under its own order, whatever becomes of them.
  if (strict) return undefined;
  const record = await services.reads.request(requestId);
  if (record === undefined || record.terms.forceRefund || !awaitsSweep(record)) return undefined;
  const { terms } = record;
  const isSigned = orderSignerOf(services, terms.order.solver) !== undefined;
  if (isSigned && isFirmAt(terms, services.clock.nowMs())) return undefined;
  // The sweep may have been broadcast by a lost payment of this lane.
  if ((await whyHeld(services, chainId, sender)) !== undefined) return undefined;
  if (!isSigned) return "its order names a solver whose key is not configured";
  if (excessive !== undefined) return excessive;
  try {
    const due = await amountForDeposit(services, record, amount);
    return due?.kind === "refund" ? `its order would be refunded: ${due.reason}` : undefined;
  } catch (error) {
    // Without prices it is unknown, and the fill waits for them.
    services.events.fault("deposit_address_fault", error, { requestId });
    return undefined;
  }
}
