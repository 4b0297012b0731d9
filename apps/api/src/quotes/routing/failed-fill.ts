import type { Address, OrderCall, SimulationFailure } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { LaneCall } from "../../db/leg.port.ts";

/** A fill whose dry run failed. */
export interface FailedFill {
  readonly reason: string;
  /** The chain's error. Absent: the service itself refuses the fill. */
  readonly failure: SimulationFailure | undefined;
  /** The transaction of the dry run. */
  readonly call: LaneCall;
}

/** The client error for a failed fill: which of its calls failed, if known, and at which block. */
export function failedFill(
  { chain, pulse }: Pick<ConnectedChain, "chain" | "pulse">,
  solver: Address,
  calls: readonly OrderCall[],
  { reason, failure, call }: FailedFill,
): ServiceError {
  const failed = failure && failedCall(calls, failure);
  const { to, data, value } = failed ?? call;
  const head = pulse.head()?.number;
  return new ServiceError("DESTINATION_TX_FAILED", `The fill on ${chain.displayName} would fail: ${reason}`, {
    data: failure?.message ?? reason,
    failedCallData: {
      from: failed === undefined ? solver : chain.contracts.router,
      to,
      data,
      value: value.toString(),
    },
    ...(head !== undefined && { approxSimulatedBlock: Number(head) }),
  });
}

/** The first call on the path to the failure. */
function failedCall(
  calls: readonly OrderCall[],
  { details: { path } }: SimulationFailure,
): OrderCall | undefined {
  for (const { address, selector } of path)
    for (const call of calls)
      if (call.to === address && (selector === undefined || call.data.startsWith(selector))) return call;
  return undefined;
}
