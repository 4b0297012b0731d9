import { findInnerOperationRefusal, isEntryPoint, readHandleOps } from "@causeway/chains";
import type { TraceOutcome } from "@causeway/chains";
import { readUserOperationEvent } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { LaneCall } from "../db/leg.port.ts";
import { refusal } from "../payments/index.ts";

type SuccessfulTrace = Extract<TraceOutcome, { kind: "ok" }>;

/**
 * Refuses calls that would cost their sponsor more than their price, as only a simulation shows.
 * @throws ServiceError
 */
export function refuseHidden(call: LaneCall, executor: Address, outcome: SuccessfulTrace): void {
  refuseHiddenFees(call, outcome);
  refuseReturnedNative(call, executor, outcome);
}

/** Refuses user operations with fees of their own, behind any number of contracts. */
function refuseHiddenFees({ to, data }: LaneCall, { calls, effects }: SuccessfulTrace): void {
  const refused = calls && findInnerOperationRefusal(calls);
  if (refused !== undefined) throw refusal(`data.data: in an inner call, ${refused.message}`);
  if (calls !== undefined) return;
  // Without a trace, nested user operations cannot be checked: refuse if more were executed than the call
  // itself contains.
  const directCall = isEntryPoint(to) ? readHandleOps(data) : undefined;
  const directCount = directCall?.kind === "read" ? directCall.ops.length : 0;
  const executedCount =
    effects.kind === "unseen" ? Infinity : effects.logs.filter(readUserOperationEvent).length;
  if (executedCount > directCount)
    throw refusal(
      "data.data: user operations in inner calls cannot be checked on this chain; call the entry point directly",
    );
}

/**
 * Refuses calls that return value to the executor: the app is charged for the full value, so the service
 * would keep what is returned.
 */
function refuseReturnedNative(
  { value }: LaneCall,
  executor: Address,
  { calls, effects }: SuccessfulTrace,
): void {
  if (value === 0n) return;
  const account = executor.toLowerCase() as Address;
  const change = effects.kind === "seen" ? effects.accounts.get(account) : undefined;
  // The balance change includes gas if the node traced it, and excludes it otherwise.
  const isPartlyReturned = change !== undefined && change.balanceBefore - change.balanceAfter < value;
  if (isPartlyReturned || calls?.some(({ to, value }) => to === account && value > 0n))
    throw refusal(
      "data.value: part of it would return to the executor instead of the user; send the exact value, or have the rest sent to the user",
    );
}
