import type { SettlementServices } from "./settlement-services.port.ts";
import { attestPayment } from "./attest-payment.ts";
import { backoff } from "./backoff.ts";

/** Payments taken over from the payment engine per commit. */
const MAX_PER_COMMIT = 500;

/**
 * One round: takes over final payments and asks oracles about all that are due, several at once. An error for
 * one payment does not stop the others.
 */
export async function attestDue(services: SettlementServices, signal: AbortSignal): Promise<void> {
  const { clock, uow, settlement, settlementPolicy: policy } = services;
  while (
    (await uow.run((tx) => tx.settlement.notePayments(clock.nowMs(), MAX_PER_COMMIT))) === MAX_PER_COMMIT
  );
  while (!signal.aborted) {
    const duePayments = await settlement.duePayments(clock.nowMs(), policy.concurrency);
    if (duePayments.length === 0) return;
    await Promise.all(
      duePayments.map((payment) =>
        attestPayment(services, payment, signal).catch(async (error: unknown) => {
          const requestId = payment.request.terms.requestId;
          services.events.fault("settlement_fault", error, { requestId });
          const nowMs = clock.nowMs();
          const nextTryMs = nowMs + backoff(policy, payment.tries);
          const why = {
            reason: "an internal error, or the hub's node failed; the worker's log has the error",
            rejected: false,
            nextTryMs,
          };
          await uow.run((tx) => tx.settlement.postpone(payment.slotId, why, nowMs));
        }),
      ),
    );
  }
}
