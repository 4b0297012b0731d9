import type { Slot } from "../../db/records.port.ts";
import { claimLeg } from "./claim-leg.ts";
import { executionLeg } from "./execution-leg.ts";
import { fillLeg } from "./fill-leg.ts";
import { hubLeg, payoutLeg } from "./contract-call-leg.ts";
import type { LegKind, PaymentKind } from "./leg-kind.ts";
import { refundLeg } from "./refund-leg.ts";
import { sweepLeg } from "./sweep-leg.ts";

/** The kinds of payment that jobs make. Queues, jobs and reconciliation follow from this list. */
export const LEG_KINDS: readonly LegKind[] = [executionLeg, fillLeg, refundLeg, claimLeg, sweepLeg];

/** Every kind of payment. The outcomes of slots follow from this list. */
const KINDS: readonly PaymentKind[] = [...LEG_KINDS, hubLeg, payoutLeg];

const byName = new Map(KINDS.map((kind) => [kind.name, kind]));

/** The payment kind of a slot. @throws Error if it is not in the list */
export function kindOf({ leg }: Pick<Slot, "leg">): PaymentKind {
  const kind = byName.get(leg.kind);
  if (kind === undefined) throw new Error(`invariant violated: unknown kind of payment ${leg.kind}`);
  return kind;
}
