import { isCoverDue } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import { coverFastFill, releaseUnpaid, warmPrices } from "../balances/index.ts";
import { transition, type TransitionServices } from "../requests/index.ts";

/**
 * Charges apps for fast fills whose deposit can no longer arrive in time: the order's deadline has passed,
 * and later blocks were read. Each fast fill has a commit of its own, so that a missing price does not delay
 * the others.
 */
export async function expireFastFills(
  services: Pick<Services, "events" | "reads" | "uow" | "enginePolicy" | "quotePolicy"> & TransitionServices,
  limit: number,
): Promise<void> {
  const graceMs = services.quotePolicy.fillGraceSeconds * 1000 + services.enginePolicy.fastFillGraceMs;
  await bookDue(services, limit);
  const overdue = await services.reads.overdueFastFills(services.clock.nowMs() - graceMs, graceMs, limit);
  if (overdue.length === 0) return;
  await noteTried(services, overdue);
  await warmPrices(services);
  for (const requestId of overdue)
    try {
      await services.uow.run(async (tx) => {
        const record = await tx.requests.lock(requestId);
        if (record) await transition(services, tx, record, { kind: "frontOverdue" });
      });
    } catch (error) {
      services.events.fault("fast_fill_fault", error, { requestId });
    }
}

/**
 * Moves these fast fills to the end of the queue. Call before the attempt: a fast fill whose price is missing
 * for days must not delay others.
 */
async function noteTried(
  { uow, clock }: Pick<Services, "uow" | "clock">,
  requestIds: readonly RequestId[],
): Promise<void> {
  await uow.run((tx) => tx.fastFills.noteTried(requestIds, clock.nowMs()));
}

/** Books deposits and charges the gas of reverted fills that waited for a price, and releases their holds. */
async function bookDue(
  services: Pick<Services, "events" | "reads" | "uow"> & TransitionServices,
  limit: number,
): Promise<void> {
  const due = await services.reads.fastFillsDue(limit);
  if (due.length === 0) return;
  await noteTried(services, due);
  await warmPrices(services);
  for (const requestId of due)
    try {
      await services.uow.run(async (tx) => {
        const record = await tx.requests.lock(requestId);
        if (record === undefined) return;
        const { front, depositId } = record.state;
        if (isCoverDue(record.state) && depositId !== undefined)
          await coverFastFill(services, tx, record.terms, depositId);
        if (front === "none") await releaseUnpaid(services, tx, requestId);
      });
    } catch (error) {
      services.events.fault("fast_fill_fault", error, { requestId });
    }
}
