import { findInnerOperationRefusal, isEntryPoint, readHandleOps } from "@causeway/chains";
import type { TraceOutcome } from "@causeway/chains";
import { readUserOperationEvent } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { LaneCall } from "../db/leg.port.ts";
import { refusal } from "../payments/index.ts";

type Seen = Extract<TraceOutcome, { kind: "ok" }>;

/**
 * Refuses costs of a call for its sponsor beyond its price that only a simulation shows.
 * @throws ServiceError
 */
export function refuseHidden(call: LaneCall, executor: Address, seen: Seen): void {
  refuseHiddenFees(call, seen);
  refuseReturnedNative(call, executor, seen);
}

/** Refuses user operations with fees of their own, behind any number of contracts. */
function refuseHiddenFees({ to, data }: LaneCall, { calls, effects }: Seen): void {
  const refused = calls && findInnerOperationRefusal(calls);
  if (refused !== undefined) throw refusal(`data.data: in an inner call, ${refused.message}`);
  if (calls !== undefined) return;
  // Only a trace would show what these did: all but those of a direct call are nested in others.
  const direct = isEntryPoint(to) ? readHandleOps(data) : undefined;
  const read = direct?.kind === "read" ? direct.ops.length : 0;
  const carriedOut =
    effects.kind === "unseen" ? Infinity : effects.logs.filter(readUserOperationEvent).length;
  if (carriedOut > read)
    throw refusal(
      "data.data: user operations in inner calls cannot be checked on this chain; call the entry point directly",
    );
}

/** The value of a call is charged in full: the service would keep returned tokens that the app paid for. */
function refuseReturnedNative({ value }: LaneCall, executor: Address, { calls, effects }: Seen): void {
  if (value === 0n) return;
  const account = executor.toLowerCase() as Address;
  const change = effects.kind === "seen" ? effects.accounts.get(account) : undefined;
  // The balance change includes gas if the node traced it, and excludes it otherwise.
  const hasKept = change !== undefined && change.balanceBefore - change.balanceAfter < value;
  if (hasKept || calls?.some(({ to, value }) => to === account && value > 0n))
    throw refusal(
      "data.value: part of it would return to the executor instead of the user; send the exact value, or have the rest sent to the user",
    );
}
