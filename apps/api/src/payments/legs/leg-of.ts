import { unreachable } from "@causeway/domain";
import type { Slot } from "../../db/records.port.ts";
import { claimLeg } from "./claim-leg.ts";
import { contractCallLeg } from "./contract-call-leg.ts";
import { executionLeg } from "./execution-leg.ts";
import { fillLeg } from "./fill-leg.ts";
import type { LegHandler } from "./leg-course.ts";
import { refundLeg } from "./refund-leg.ts";
import { sweepLeg } from "./sweep-leg.ts";

/** The handler of what a slot pays. */
export function legOf({ leg }: Pick<Slot, "leg">): LegHandler {
  switch (leg.kind) {
    case "fill":
      return fillLeg;
    case "refund":
      return refundLeg(leg.depositId);
    case "execution":
      return executionLeg;
    case "claim":
      return claimLeg(leg.claimId);
    case "sweep":
      return sweepLeg(leg.sweepId);
    case "hub":
    case "payout":
      return contractCallLeg;
    default:
      return unreachable(leg);
  }
}
