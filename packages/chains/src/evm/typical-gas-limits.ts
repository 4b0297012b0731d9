import type { CallFrame } from "@causeway/domain";
import type { TracedCall } from "@causeway/families/evm";
import { gasLimitsToTry } from "./gas-limit.ts";
import { createFactCache } from "./fact-cache.ts";

/** Recently proven gas limits by kind of call: target, function and length of the data. */
export interface TypicalGasLimits {
  /** The last limit of a call of this kind; undefined if unknown. */
  get(call: TracedCall): bigint | undefined;
  /** Caches a limit with which the call succeeded. */
  record(call: TracedCall, gas: bigint): void;
}

const MAX_KINDS = 2_000;

export function createTypicalGasLimits(): TypicalGasLimits {
  const limits = createFactCache<bigint>({ entries: MAX_KINDS, bytes: MAX_KINDS, sizeOf: () => 1 });
  const kindOf = ({ to, data, value }: TracedCall): string =>
    `${to}${data.slice(0, 10)}${data.length}${value > 0n ? "v" : ""}`;
  return {
    get: (call) => limits.get(kindOf(call)),
    record: (call, gas) => limits.set(kindOf(call), gas),
  };
}

/**
 * Rounds up to the next of 32 steps between two powers of two, so that a slightly different call gets the
 * same limit and costs the same. Pure.
 */
export function roundUpGas(gas: bigint): bigint {
  const step = 1n << BigInt(Math.max(gas.toString(2).length - 6, 0));
  return ((gas + step - 1n) / step) * step;
}

/**
 * Whether a run with a guessed limit is conclusive: nothing in it failed, and the limit is not much more than
 * needed. A failed inner call may have lacked gas, even if its caller ignored that. Pure.
 */
export function provesLimit(frame: CallFrame, gas: bigint): boolean {
  const [needed = gas] = gasLimitsToTry(frame, gas);
  return !hasFailure(frame) && gas * 2n <= needed * 3n;
}

function hasFailure({ error, calls }: CallFrame): boolean {
  return error !== undefined || calls.some(hasFailure);
}
