import type { Address } from "@causeway/domain";
import type { AcceptedCall } from "../payments/executions.port.ts";
import type { FeesToReserve } from "../balances/ledger.port.ts";
import { appraise, planCharge, type Shortfall } from "../balances/index.ts";
import { executeJob } from "../requests/index.ts";
import { newCall, hasBudgets, newExecution, reserveKey, reportAccepted } from "./accept-execution.ts";
import type { AcceptableExecution, AcceptServices } from "./accept-execution.ts";

/**
 * A new call that an app pays for, without value, budget, quote or idempotency key. It shares only its
 * wallet's balance with other calls.
 */
export interface PlainExecution extends AcceptableExecution {
  readonly wallet: Address;
}

export function isPlain(acceptable: AcceptableExecution): acceptable is PlainExecution {
  const { wallet, quotedRequest, lease, caller, sale } = acceptable;
  return (
    wallet !== undefined &&
    quotedRequest === undefined &&
    lease === undefined &&
    sale === undefined &&
    !hasBudgets(caller)
  );
}

export type AcceptOutcome = { readonly kind: "accepted" } | Shortfall;

/**
 * Accepts plain calls of one wallet in one commit. In their order, each call that the remaining balance
 * covers is accepted; the others are refused. Only the wallet's row is locked, for two statements: all other
 * rows are new.
 * @throws an error that prevents all calls from being accepted; nothing is stored then
 */
export async function acceptTogether(
  services: AcceptServices,
  wallet: Address,
  executions: readonly PlainExecution[],
): Promise<readonly AcceptOutcome[]> {
  const outcomes = await services.uow.run(async (tx) => {
    const nowMs = services.clock.nowMs();
    let appraisal = appraise(services, await tx.ledger.lockWallet(wallet, nowMs));
    const calls: AcceptedCall[] = [];
    const fees: FeesToReserve[] = [];
    const judged = executions.map((acceptable): AcceptOutcome => {
      const { requestId, sponsorship } = acceptable;
      const usd = sponsorship.costUsd;
      const planned = planCharge(appraisal, { usd, transferredUsd: sponsorship.valueUsd });
      if (planned.kind === "insufficient") return planned;
      appraisal = planned.remaining;
      fees.push({ requestId, usd, parts: planned.parts, movementKey: reserveKey(requestId) });
      calls.push({
        ...newCall(services, acceptable, nowMs),
        job: executeJob(requestId, nowMs),
        execution: newExecution(acceptable, nowMs),
      });
      return { kind: "accepted" };
    });
    if (calls.length > 0) {
      await tx.executions.addCalls(calls);
      await tx.ledger.reserveTogether(wallet, fees, nowMs);
    }
    return judged;
  });
  for (const [index, { kind }] of outcomes.entries()) {
    const acceptable = executions[index];
    if (kind === "accepted" && acceptable !== undefined) reportAccepted(services, acceptable);
  }
  return outcomes;
}
