import type { FailReason, RequestId } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import { transition } from "../requests/index.ts";
import { whyMaybePaid } from "./unexplained-nonces.ts";
import { DONE } from "../db/wait.ts";
import type { FillServices } from "./fill-services.port.ts";
import type { Progress } from "../db/wait.ts";

/** Never gives up: the recipient may have been paid, and then the deposit must not be refunded. */
export function untilExplained(services: FillServices, requestId: RequestId, why: string): Progress {
  services.events.alarm("fill_waits", { requestId, why });
  return { waitMs: 1_000, why };
}

/**
 * Waits for temporary obstacles, but not forever: then the deposit is refunded, or a fast fill waits for its
 * deposit again.
 */
export async function postpone(
  services: FillServices,
  request: RequestRecord,
  why: string,
  reason: FailReason = "SOLVER_BALANCE_TOO_LOW",
): Promise<Progress> {
  const { terms, updatedAtMs } = request;
  // Since it became fillable: `updatedAtMs` changes with any deposit that names its order.
  const sinceMs = (await services.reads.stateSinceMs(terms.requestId)) ?? updatedAtMs;
  const waitedMs = services.clock.nowMs() - sinceMs;
  if (waitedMs > services.enginePolicy.inventoryWaitMs) return giveUpFill(services, request, reason, why);
  services.events.alarm("fill_waits", { requestId: terms.requestId, why, waitedMs });
  return { waitMs: 1_000, why };
}

/** @throws RpcFault: it is unknown whether the recipient was paid, and nothing was given up */
export async function giveUpFill(
  services: FillServices,
  { terms }: RequestRecord,
  reason: FailReason,
  detail?: string,
): Promise<Progress> {
  const { requestId } = terms;
  const maybePaid = await whyMaybePaid(services, terms.destination.chainId, terms);
  if (maybePaid !== undefined) return untilExplained(services, requestId, maybePaid);
  await services.uow.run(async (tx) => {
    const record = await tx.requests.lock(requestId);
    if (record)
      await transition(services, tx, record, { kind: "fillImpossible", reason }, {}, { reason, detail });
  });
  services.events.alarm("fill_impossible", { requestId, reason, detail });
  return DONE;
}
