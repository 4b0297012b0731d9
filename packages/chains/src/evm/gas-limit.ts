import type { CallFrame } from "@causeway/domain";

/**
 * The gas limits to try for a transaction, from the least that its trace with plenty of gas lets expect; each
 * is only a guess until a trace with it did the same. Pure.
 */
export function gasLimitsToTry(plenty: CallFrame, ceiling: bigint): readonly bigint[] {
  // What the transaction is said to have used is less its refunds, at most a fifth (EIP-3529): that much less
  // was left.
  const { gas: needed, isLimiting } = gasNeeded(plenty, plenty.gasUsed + plenty.gasUsed / 4n + 1n);
  const least = needed + (isLimiting ? RESERVED : 0n);
  // Refunds come after the limit had to suffice.
  const unrefunded = least + plenty.gasUsed / 4n + 1n;
  const limits = [least, unrefunded, least * 2n, least * 4n].filter((limit) => limit < ceiling);
  return [...limits, ceiling];
}

/** What contracts that give calls a limit want to keep beside it; entry points keep 10,000. */
const RESERVED = 12_000n;

/** What comes with a value and is not the caller's gas. */
const STIPEND = 2_300n;

/**
 * Gas with which a call can do what it did: its own, and so much more that each of its calls could be given
 * what it needs, of which a caller keeps one part in 64 (EIP-150). Calls to which less was given than there
 * was, were given it on purpose: they need it all.
 */
function gasNeeded(
  frame: CallFrame,
  usedAtMost = frame.gasUsed,
): { readonly gas: bigint; readonly isLimiting: boolean } {
  const leftAtLeast = frame.gas > usedAtMost ? frame.gas - usedAtMost : 0n;
  let more = 0n;
  let isLimiting = false;
  for (const call of frame.calls) {
    const isLimited = call.gas > STIPEND && call.gas < (leftAtLeast * 63n) / 64n;
    const needed = isLimited ? { gas: call.gas, isLimiting: true } : gasNeeded(call);
    isLimiting ||= needed.isLimiting;
    const before = (needed.gas * 64n) / 63n + 1n;
    if (before > call.gasUsed + more) more = before - call.gasUsed;
  }
  return { gas: frame.gasUsed + more, isLimiting };
}

/**
 * Whether two runs of the same transaction did the same: the same calls with the same fate, and the same
 * logs.
 */
export function didTheSame(one: CallFrame, other: CallFrame): boolean {
  return (
    one.type === other.type &&
    one.to === other.to &&
    one.input.slice(0, 10) === other.input.slice(0, 10) &&
    (one.error === undefined) === (other.error === undefined) &&
    one.logs.length === other.logs.length &&
    one.logs.every((log, at) => log.topics.join() === other.logs[at]?.topics.join()) &&
    one.calls.length === other.calls.length &&
    one.calls.every((call, at) => {
      const twin = other.calls[at];
      return twin !== undefined && didTheSame(call, twin);
    })
  );
}
