import { unreachable } from "@causeway/domain";
import type { FailReason, RequestId } from "@causeway/domain";
import { orderSignerOf } from "../../chains/index.ts";
import type { RequestRecord } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { DONE } from "../../db/wait.ts";
import type { Progress } from "../../db/wait.ts";
import { connectedChainOf } from "../../http/connected-chain.ts";
import { fillBasisOf } from "../fill-basis.ts";
import type { FillBasis, PlannedFill } from "../planned-fill.port.ts";
import type { Stopped } from "../legs/leg-kind.ts";
import { whyMaybePaid } from "../unexplained-nonces.ts";
import type { FillPlanResult } from "./fill-result.ts";
import { planFill } from "./plan-fill.ts";

/** Why a fill is never made. */
export interface FillEnd {
  readonly reason: FailReason;
  readonly detail?: string | undefined;
}

/** The facts that decide a fill. */
type FillPreview =
  /** Nothing to fill now, or never: it was not planned. */
  | { readonly kind: "unplanned"; readonly hasBasis: boolean; readonly isSigned: boolean }
  | {
      readonly kind: "planned";
      readonly planned: FillPlanResult | { readonly kind: "unknown"; readonly error: unknown };
      /** Why the fill may have been paid already. */
      readonly whyPaid: string | undefined;
    };

/**
 * Reads the facts that decide a fill, and plans it. Decides nothing.
 * @param knownBasis the basis of the fill, if the database may not have it yet
 * @throws RpcFault
 */
export async function previewFill(
  services: WorkerServices,
  request: RequestRecord,
  knownBasis?: FillBasis,
): Promise<FillPreview> {
  const { terms } = request;
  const execution = services.reads.execution(terms.requestId);
  // If the fill is not planned, nothing awaits the execution.
  execution.catch(() => undefined);
  const basis = knownBasis ?? (await fillBasisOf(services, request));
  const origin = connectedChainOf(services.chains, terms.origin.chainId);
  const destination = connectedChainOf(services.chains, terms.destination.chainId);
  // Settlement needs the signature of the solver that the order names.
  const isSigned = orderSignerOf(services, terms.order.solver) !== undefined;
  if (basis === undefined || !isSigned || origin === undefined || destination === undefined)
    return { kind: "unplanned", hasBasis: basis !== undefined, isSigned };
  // Concurrently, so that the reads of both share their queries: planning writes nothing.
  const [planned, whyPaid] = await Promise.all([
    planFill(services, request, { basis, execution, origin, destination }).catch(
      (error: unknown) => ({ kind: "unknown", error }) as const,
    ),
    whyMaybePaid(services, terms.destination.chainId, terms),
  ]);
  return { kind: "planned", planned, whyPaid };
}

/** Decides what to pay and how; or not to pay, temporarily or permanently. */
export async function decideFill(
  services: WorkerServices,
  request: RequestRecord,
): Promise<Stopped<FillEnd> | PlannedFill> {
  const { requestId } = request.terms;
  const preview = await previewFill(services, request);
  if (preview.kind === "unplanned") {
    services.planFaults.clear(requestId);
    if (!preview.hasBasis) return DONE;
    if (!preview.isSigned)
      return giveUpFill("NO_QUOTES", "the order names a solver whose key is not configured");
    return await postpone(services, request, "the chain is disabled");
  }
  const { planned, whyPaid } = preview;
  if (whyPaid !== undefined || planned.kind !== "unknown") services.planFaults.clear(requestId);
  // Before the fill can be given up: it may have been paid.
  if (whyPaid !== undefined) return waitUntilExplained(services, requestId, whyPaid);
  switch (planned.kind) {
    case "ready":
      return planned;
    case "wait":
      return await postpone(services, request, planned.why, planned.reason);
    case "refund":
      return giveUpFill(planned.reason, planned.detail);
    case "unknown":
      return giveUpAfterFaults(services, request, planned.error);
    default:
      return unreachable(planned);
  }
}

/** Gives up after a failure that lasted as long as fills wait for inventory. @throws any other failure */
function giveUpAfterFaults(
  services: WorkerServices,
  { terms: { requestId } }: RequestRecord,
  error: unknown,
): Stopped<FillEnd> {
  const { inventoryWaitMs } = services.enginePolicy;
  const nowMs = services.clock.nowMs();
  const failedForMs = services.planFaults.failedForMs(requestId, error, nowMs, inventoryWaitMs);
  if (failedForMs === undefined || failedForMs < inventoryWaitMs) throw error;
  services.planFaults.clear(requestId);
  const detail = error instanceof Error ? error.message : "planning the fill failed";
  return giveUpFill("UNKNOWN", detail);
}

/** Never gives up: the recipient may have been paid, and then the deposit must not be refunded. */
export function waitUntilExplained(services: WorkerServices, requestId: RequestId, why: string): Progress {
  services.events.alarm("fill_waits", { requestId, why });
  return { waitMs: 1_000, why };
}

/**
 * Waits for temporary obstacles, but not forever: then the deposit is refunded, or a fast fill waits for its
 * deposit again.
 */
export async function postpone(
  services: WorkerServices,
  request: RequestRecord,
  why: string,
  reason: FailReason = "SOLVER_BALANCE_TOO_LOW",
): Promise<Stopped<FillEnd>> {
  const { terms, updatedAtMs } = request;
  // Since it became fillable: `updatedAtMs` changes with any deposit that names its order.
  const sinceMs = (await services.reads.stateSinceMs(terms.requestId)) ?? updatedAtMs;
  const waitedMs = services.clock.nowMs() - sinceMs;
  if (waitedMs > services.enginePolicy.inventoryWaitMs) return giveUpFill(reason, why);
  services.events.alarm("fill_waits", { requestId: terms.requestId, why, waitedMs });
  return { waitMs: 1_000, why };
}

export function giveUpFill(reason: FailReason, detail?: string): { readonly giveUp: FillEnd } {
  return { giveUp: { reason, detail } };
}
