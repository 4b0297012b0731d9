import type { ConnectedChain } from "../chains/chains.port.ts";
import { tickBatcher } from "../db/tick-batcher.ts";
import type { LaneFunds } from "./payers/funds.port.ts";
import type { LegKindToPay, Sent, Wanted } from "./reserve.port.ts";
import { reserve } from "./reserve.ts";
import { sendTogether, type SendServices } from "./send-together.ts";

/** Maximum number of payments in one batch. */
const MAX_BATCH = 50;

/**
 * Sends simultaneous payments of one chain together. A single payment does not wait.
 * @param sendAll the outcome of each, in order; an error concerns that one alone
 * @param inFlight batches per chain at the same time
 */
export function inLaneBatches<Plan>(
  sendAll: (connected: ConnectedChain, plans: readonly Plan[]) => Promise<ReadonlyArray<Sent | Error>>,
  inFlight: number,
): (connected: ConnectedChain, plan: Plan) => Promise<Sent> {
  const lanes = new Map<number, (plan: Plan) => Promise<Sent | Error>>();
  return async (connected, plan) => {
    const { id } = connected.chain;
    const send =
      lanes.get(id) ??
      tickBatcher((plans: readonly Plan[]) => sendAll(connected, plans), { inFlight, maxBatch: MAX_BATCH });
    lanes.set(id, send);
    const sent = await send(plan);
    if (sent instanceof Error) throw sent;
    return sent;
  };
}

/**
 * Reserves nonces of one lane and sends the payments: for all of them one commit for the nonces, one for the
 * bytes and one for the nodes' answers.
 * @returns the outcome of each, in order; an error concerns that one alone, and a retry finds its nonce
 * @throws what prevents all of them from being sent
 */
export async function payTogether<W extends Wanted>(
  services: SendServices,
  connected: ConnectedChain,
  funds: LaneFunds,
  kind: LegKindToPay<W>,
  wanted: readonly W[],
): Promise<ReadonlyArray<Sent | Error>> {
  const outcomes = await reserve(services, funds, kind, wanted);
  const slots = outcomes.flatMap((outcome) => ("slot" in outcome ? outcome.slot : []));
  const errors = await sendTogether(services, connected, [
    ...new Map(slots.map((slot) => [slot.id, slot])).values(),
  ]);
  return outcomes.map((outcome) => {
    if (outcome instanceof Error) return outcome;
    return outcome.kind === "reserved" ? (errors.get(outcome.slot.id) ?? "sent") : outcome.kind;
  });
}
