import { unreachable } from "@causeway/domain";
import { orderSignerOf } from "../chains/index.ts";
import type { RequestRecord } from "../db/records.port.ts";
import { DONE } from "../db/wait.ts";
import type { Progress } from "../db/wait.ts";
import { endOf } from "../http/request-end.ts";
import { fillBasisOf } from "./fill-basis.ts";
import { giveUpFill, postpone, untilExplained } from "./fill-outcome.ts";
import type { FillServices } from "./fill-services.port.ts";
import type { PlannedFill } from "./plan/fill-planned.ts";
import { planFill } from "./plan/plan-fill.ts";

/** Decides what to pay and how; or not to pay, for now or for good. */
export async function decideFill(
  services: FillServices,
  request: RequestRecord,
  maybePaid: Promise<string | undefined>,
): Promise<Progress | PlannedFill> {
  const { terms } = request;
  const [basis, execution] = await Promise.all([
    fillBasisOf(services, request),
    services.reads.execution(terms.requestId),
  ]);
  if (basis === undefined) return DONE;
  // Settlement needs the signature of the solver that the order names.
  if (orderSignerOf(services, terms.order.solver) === undefined)
    return giveUpFill(services, request, "NO_QUOTES", "the order names a solver whose key is not configured");
  const origin = endOf(services.chains, terms.origin.chainId);
  const destination = endOf(services.chains, terms.destination.chainId);
  if (origin === undefined || destination === undefined)
    return postpone(services, request, "the chain is disabled");
  const whyPaid = await maybePaid;
  if (whyPaid !== undefined) return untilExplained(services, terms.requestId, whyPaid);
  const planned = await planFill(services, request, { basis, execution, origin, destination });
  switch (planned.kind) {
    case "ready":
      return planned;
    case "wait":
      return postpone(services, request, planned.why, planned.reason);
    case "refund":
      return giveUpFill(services, request, planned.reason, planned.detail);
    default:
      return unreachable(planned);
  }
}
