import type { WorkerServices } from "../../db/services.port.ts";
import type { LegKind } from "../legs/leg-kind.ts";
import type { HeldPayment, PaymentOutcome } from "../wanted-payment.port.ts";

/** A pause ends when the operator ends it; a limit, mostly when the UTC day ends. */
const PAUSED_WAIT_MS = 5_000;
const LIMITED_WAIT_MS = 30_000;

export function isHeld(outcome: PaymentOutcome): outcome is HeldPayment {
  return typeof outcome === "object" && outcome.kind === "held";
}

/** How long until a held payment is tried again, ms. */
export function waitOf({ rule }: HeldPayment): number {
  return rule === "paused" ? PAUSED_WAIT_MS : LIMITED_WAIT_MS;
}

/** Removes the record of a held payment whose leg ends in another way. */
export async function releaseHeld(
  { uow }: Pick<WorkerServices, "uow">,
  { name }: Pick<LegKind, "name">,
  legId: string,
): Promise<void> {
  await uow.run((tx) => tx.policy.release(name, [legId]));
}
