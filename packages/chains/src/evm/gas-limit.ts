import type { CallFrame } from "@causeway/domain";

/**
 * The gas limits to try for a transaction, smallest first, derived from its trace with plenty of gas. Each is
 * a guess until a trace with this limit has the same effects. Pure.
 */
export function gasLimitsToTry(plenty: CallFrame, ceiling: bigint): readonly bigint[] {
  // `gasUsed` is net of refunds, which are at most a fifth of the gas (EIP-3529).
  const { gas: needed, isLimiting } = gasNeeded(plenty, plenty.gasUsed + plenty.gasUsed / 4n + 1n);
  const min = needed + (isLimiting ? RESERVED : 0n);
  // Refunds come after the transaction: the limit must suffice without them.
  const unrefunded = min + plenty.gasUsed / 4n + 1n;
  const limits = [min, unrefunded, min * 2n, min * 4n].filter((limit) => limit < ceiling);
  return [...limits, ceiling];
}

/** Gas that a contract keeps for itself when it limits the gas of a call; entry points keep 10,000. */
const RESERVED = 12_000n;

/** Gas that a call with a value gets for free (call stipend). */
const STIPEND = 2_300n;

/**
 * Gas with which a call can repeat what it did: its own gas, and enough for each of its inner calls, although
 * the caller keeps 1/64 of what it has (EIP-150). A call that got less than was available was limited on
 * purpose and needs all of its limit.
 */
function gasNeeded(
  frame: CallFrame,
  maxUsed = frame.gasUsed,
): { readonly gas: bigint; readonly isLimiting: boolean } {
  const minLeft = frame.gas > maxUsed ? frame.gas - maxUsed : 0n;
  let extra = 0n;
  let isLimiting = false;
  for (const call of frame.calls) {
    const isLimited = call.gas > STIPEND && call.gas < (minLeft * 63n) / 64n;
    const needed = isLimited ? { gas: call.gas, isLimiting: true } : gasNeeded(call);
    isLimiting ||= needed.isLimiting;
    const neededBeforeCall = (needed.gas * 64n) / 63n + 1n;
    if (neededBeforeCall > call.gasUsed + extra) extra = neededBeforeCall - call.gasUsed;
  }
  return { gas: frame.gasUsed + extra, isLimiting };
}

/** Whether two runs of the same transaction had the same calls with the same outcomes, and the same logs. */
export function hasSameEffects(a: CallFrame, b: CallFrame): boolean {
  return (
    a.type === b.type &&
    a.to === b.to &&
    a.input.slice(0, 10) === b.input.slice(0, 10) &&
    (a.error === undefined) === (b.error === undefined) &&
    a.logs.length === b.logs.length &&
    a.logs.every((log, index) => log.topics.join() === b.logs[index]?.topics.join()) &&
    a.calls.length === b.calls.length &&
    a.calls.every((call, index) => {
      const twin = b.calls[index];
      return twin !== undefined && hasSameEffects(call, twin);
    })
  );
}
