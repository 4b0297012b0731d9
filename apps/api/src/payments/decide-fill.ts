import { unreachable } from "@causeway/domain";
import { orderSignerOf } from "../chains/index.ts";
import type { RequestRecord } from "../db/records.port.ts";
import { DONE } from "../db/wait.ts";
import type { Progress } from "../db/wait.ts";
import { endOf } from "../http/request-end.ts";
import { whyMaybePaid } from "./unexplained-nonces.ts";
import { fillBasisOf } from "./fill-basis.ts";
import { giveUpFill, postpone, untilExplained } from "./fill-outcome.ts";
import type { FillServices } from "./fill-services.port.ts";
import type { PlannedFill } from "./plan/fill-planned.ts";
import { planFill } from "./plan/plan-fill.ts";

/** Decides what to pay and how; or not to pay, for now or for good. */
export async function decideFill(
  services: FillServices,
  request: RequestRecord,
): Promise<Progress | PlannedFill> {
  const { terms } = request;
  const [basis, execution] = await Promise.all([
    fillBasisOf(services, request),
    services.reads.execution(terms.requestId),
  ]);
  const origin = endOf(services.chains, terms.origin.chainId);
  const destination = endOf(services.chains, terms.destination.chainId);
  const isSigned = orderSignerOf(services, terms.order.solver) !== undefined;
  const isPlannable = isSigned && origin !== undefined && destination !== undefined;
  if (basis === undefined || !isPlannable) services.planFaults.clear(terms.requestId);
  if (basis === undefined) return DONE;
  // Settlement needs the signature of the solver that the order names.
  if (!isSigned)
    return giveUpFill(services, request, "NO_QUOTES", "the order names a solver whose key is not configured");
  if (origin === undefined || destination === undefined)
    return postpone(services, request, "the chain is disabled");
  // At once, so that the reads of both share their queries: planning writes nothing.
  const [planned, whyPaid] = await Promise.all([
    planFill(services, request, { basis, execution, origin, destination }).catch(
      (error: unknown) => ({ kind: "unknown", error }) as const,
    ),
    whyMaybePaid(services, terms.destination.chainId, terms),
  ]);
  if (whyPaid !== undefined || planned.kind !== "unknown") services.planFaults.clear(terms.requestId);
  // Before anything is given up: it may have been paid.
  if (whyPaid !== undefined) return untilExplained(services, terms.requestId, whyPaid);
  switch (planned.kind) {
    case "ready":
      return planned;
    case "wait":
      return postpone(services, request, planned.why, planned.reason);
    case "refund":
      return giveUpFill(services, request, planned.reason, planned.detail);
    case "unknown":
      return await giveUpAfterFaults(services, request, planned.error);
    default:
      return unreachable(planned);
  }
}

/** A failure that persists as long as fills wait for inventory is final. @throws any other */
async function giveUpAfterFaults(
  services: FillServices,
  request: RequestRecord,
  error: unknown,
): Promise<Progress> {
  const { inventoryWaitMs } = services.enginePolicy;
  const nowMs = services.clock.nowMs();
  const { requestId } = request.terms;
  const failedForMs = services.planFaults.failedForMs(requestId, error, nowMs, inventoryWaitMs);
  if (failedForMs === undefined || failedForMs < inventoryWaitMs) throw error;
  services.planFaults.clear(requestId);
  const detail = error instanceof Error ? error.message : "planning the fill failed";
  return await giveUpFill(services, request, "UNKNOWN", detail);
}
