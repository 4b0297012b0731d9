import type { Address, OrderCall, SimulationFailure } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { LaneCall } from "../../db/leg.port.ts";

/** A fill that was tried and cannot be made. */
export interface FailedFill {
  readonly reason: string;
  /** What the chain said; undefined: it is this service that does not allow it. */
  readonly failure: SimulationFailure | undefined;
  /** The transaction that was tried. */
  readonly call: LaneCall;
}

/**
 * What a client is told of it: which of its calls failed, as far as that shows, and in which block that was
 * found out.
 */
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

/** The first of the calls that lies on the way to what failed. */
function failedCall(
  calls: readonly OrderCall[],
  { details: { path } }: SimulationFailure,
): OrderCall | undefined {
  for (const { address, selector } of path)
    for (const call of calls)
      if (call.to === address && (selector === undefined || call.data.startsWith(selector))) return call;
  return undefined;
}
