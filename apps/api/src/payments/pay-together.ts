import type { WorkerServices } from "../db/services.port.ts";
import { tickBatcher } from "../db/tick-batcher.ts";
import type { PaymentKind } from "./legs/leg-kind.ts";
import type { PayTogether, PaymentOutcome, WantedPayment } from "./wanted-payment.port.ts";
import { kindOf } from "./legs/index.ts";
import { payerOf } from "./payers/index.ts";
import type { Payer } from "./payers/payer.ts";
import { reserve } from "./reserve-slots.ts";
import { sendSlots } from "./send-slots.ts";

/** Maximum number of payments in one batch. */
const MAX_BATCH = 50;

/** Pays legs of one kind and lane that are due at the same time in one batch. A single leg does not wait. */
export function groupedPayments(services: WorkerServices): PayTogether {
  const lanes = new Map<string, (wanted: WantedPayment) => Promise<PaymentOutcome | Error>>();
  return async (wanted) => {
    const kind = kindOf(wanted.plan);
    const { chainId, sender } = wanted.plan;
    const lane = `${kind.name} ${chainId} ${sender}`;
    const inFlight = kind.batching?.inFlight ?? 1;
    const send =
      lanes.get(lane) ??
      tickBatcher((batch: readonly WantedPayment[]) => payTogether(services, kind, batch), {
        inFlight,
        maxBatch: MAX_BATCH,
      });
    lanes.set(lane, send);
    const outcome = await send(wanted);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
}

/**
 * Reserves slots of one lane and sends the payments. One commit stores all slots, and also their bytes unless
 * these follow in a second commit; another commit stores the nodes' answers.
 * @returns the outcome of each payment, in order; an error concerns that payment alone, and a retry finds its
 * slot
 */
export async function payTogether(
  services: WorkerServices,
  kind: PaymentKind,
  wanted: readonly WantedPayment[],
): Promise<ReadonlyArray<PaymentOutcome | Error>> {
  const [first] = wanted;
  return first === undefined ? [] : await payWith(services, payerOf(services, first.plan), kind, wanted);
}

/** {@link payTogether} with the payer of the lane. */
export async function payWith(
  services: WorkerServices,
  payer: Payer,
  kind: PaymentKind,
  wanted: readonly WantedPayment[],
): Promise<ReadonlyArray<PaymentOutcome | Error>> {
  const outcomes = await reserve(services, payer, kind, wanted);
  const slots = outcomes.flatMap((outcome) => ("slot" in outcome ? outcome.slot : []));
  const distinct = [...new Map(slots.map((slot) => [slot.id, slot])).values()];
  const errors = await sendSlots(services, payer, distinct, { isNew: true });
  return outcomes.map((outcome) => {
    if (outcome instanceof Error || outcome.kind === "refused" || outcome.kind === "held") return outcome;
    return outcome.kind === "reserved" ? (errors.get(outcome.slot.id) ?? "sent") : outcome.kind;
  });
}
