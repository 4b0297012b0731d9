import type { RequestId } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import { settleFees } from "./legs/fees-of-fill.ts";
import { limitJobs } from "./non-evm/limit-jobs.ts";
import { resumeSlot } from "./resume-slot.ts";
import { DONE } from "../db/wait.ts";
import { endOf } from "../http/request-end.ts";
import { decideFill } from "./decide-fill.ts";
import { commitAndSend } from "./commit-fill.ts";
import type { FillServices } from "./fill-services.port.ts";
import type { Progress } from "../db/wait.ts";

/**
 * Pays the recipient of a request with a confirmed deposit or a fast fill: decides the amount, simulates the
 * payment, reserves a nonce together with the state change, then sends. Idempotent in any number of
 * processes: the request's lock and its one live nonce allow one payment.
 * @throws RpcFault, ServiceError (prices): nothing was decided, the job retries. A failure that persists for
 * `inventoryWaitMs` is final.
 */
export async function fillDestination(services: FillServices, requestId: RequestId): Promise<Progress> {
  const ahead = await services.fillsAhead?.take(requestId);
  if (ahead !== undefined) {
    services.planFaults.clear(requestId);
    return await commitAndSend(services, ahead.request, ahead.planned, ahead.checkedAtMs);
  }
  const request = await services.reads.request(requestId);
  if (request === undefined) return DONE;
  const { name } = request.state;
  if (name !== "filling" && name !== "fillable") return await goOn(services, request);
  const destination = endOf(services.chains, request.terms.destination.chainId);
  return await limitJobs(destination, "fill", async () => await goOn(services, request));
}

async function goOn(services: FillServices, request: RequestRecord): Promise<Progress> {
  const { requestId } = request.terms;
  if (request.state.name === "filling") {
    // A process died between reserving the nonce and sending: the bytes are, or will be, the same.
    const slot = await services.reads.slotOfLeg("fill", requestId);
    if (slot) await resumeSlot(services, slot);
    return DONE;
  }
  if (request.state.name === "filled" && request.state.final && request.terms.appFees !== undefined)
    return await creditLate(services, requestId);
  if (request.state.name !== "fillable") return DONE;
  const checkedAtMs = performance.now();
  const decided = await decideFill(services, request);
  return "waitMs" in decided ? decided : await commitAndSend(services, request, decided, checkedAtMs);
}

/** Credits app fees of a fill that became final while there was no fresh price. */
async function creditLate(services: FillServices, requestId: RequestId): Promise<Progress> {
  const outcome = await services.uow.run(async (tx) => {
    const current = await tx.requests.lock(requestId);
    if (current?.state.final !== true) return "done";
    const settled = await settleFees(services, tx, current);
    if (settled === "done") await tx.ledger.feesCredited(requestId);
    return settled;
  });
  return outcome === "done" ? DONE : { waitMs: 5_000, why: "no fresh price for the app fees" };
}
