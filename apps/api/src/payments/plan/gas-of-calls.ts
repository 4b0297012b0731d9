import type { CallPlan } from "@causeway/chains";
import type { OutputCalls } from "@causeway/domain";
import type { Services } from "../../db/services.port.ts";
import type { DestinationExecution } from "../executions.port.ts";

/** Maximum gas units of a fill with calls of its quote, without its swap: the output pays for this much. */
export function maxGasOfCalls(
  { quotePolicy }: Pick<Services, "quotePolicy">,
  { gas }: Pick<OutputCalls, "gas">,
): bigint {
  return quotePolicy.gas.swapFill + gas;
}

/**
 * Maximum gas units of a fill with sponsored calls: the sponsor's reservation and the quote cover this much.
 */
export function maxGasOf({ plainGas, extraGas }: DestinationExecution): bigint {
  return plainGas + extraGas;
}

/** Native tokens that calls carry, in wei. */
export function valueOf(calls: readonly CallPlan[]): bigint {
  return calls.reduce((sum, { value }) => sum + value, 0n);
}
