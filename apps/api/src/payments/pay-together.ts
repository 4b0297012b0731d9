import type { WorkerServices } from "../db/services.port.ts";
import { tickBatcher } from "../db/tick-batcher.ts";
import type { PaymentKind } from "./legs/leg-kind.ts";
import type { PayTogether, Sent, WantedPayment } from "./wanted-payment.port.ts";
import { kindOf } from "./legs/index.ts";
import { payerOf } from "./payers/index.ts";
import type { Payer } from "./payers/payer.ts";
import { reserve } from "./reserve-slots.ts";
import { sendSlots } from "./send-slots.ts";

/** Maximum number of payments in one batch. */
const MAX_BATCH = 50;

/** Pays legs of one kind and lane that are due at the same time in one batch. A single one does not wait. */
export function groupedPayments(services: WorkerServices): PayTogether {
  const lanes = new Map<string, (wanted: WantedPayment) => Promise<Sent | Error>>();
  return async (wanted) => {
    const kind = kindOf(wanted.plan);
    const { chainId, sender } = wanted.plan;
    const lane = `${kind.name} ${chainId} ${sender}`;
    const inFlight = kind.together?.inFlight ?? 1;
    const send =
      lanes.get(lane) ??
      tickBatcher((all: readonly WantedPayment[]) => payTogether(services, kind, all), {
        inFlight,
        maxBatch: MAX_BATCH,
      });
    lanes.set(lane, send);
    const sent = await send(wanted);
    if (sent instanceof Error) throw sent;
    return sent;
  };
}

/**
 * Reserves slots of one lane and sends the payments: for all of them one commit for the slots, which has
 * their bytes too or is followed by one that does, and one for the nodes' answers.
 * @returns the outcome of each, in order; an error concerns that one alone, and a retry finds its slot
 */
export async function payTogether(
  services: WorkerServices,
  kind: PaymentKind,
  wanted: readonly WantedPayment[],
): Promise<ReadonlyArray<Sent | Error>> {
  const [first] = wanted;
  return first === undefined ? [] : await payWith(services, payerOf(services, first.plan), kind, wanted);
}

/** {@link payTogether} with the payer of the lane. */
export async function payWith(
  services: WorkerServices,
  payer: Payer,
  kind: PaymentKind,
  wanted: readonly WantedPayment[],
): Promise<ReadonlyArray<Sent | Error>> {
  const outcomes = await reserve(services, payer, kind, wanted);
  const slots = outcomes.flatMap((outcome) => ("slot" in outcome ? outcome.slot : []));
  const distinct = [...new Map(slots.map((slot) => [slot.id, slot])).values()];
  const errors = await sendSlots(services, payer, distinct, { isNew: true });
  return outcomes.map((outcome) => {
    if (outcome instanceof Error || outcome.kind === "refused" || outcome.kind === "held") return outcome;
    return outcome.kind === "reserved" ? (errors.get(outcome.slot.id) ?? "sent") : outcome.kind;
  });
}
