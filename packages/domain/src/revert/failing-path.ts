import type { Hex } from "../ids/hex.ts";
import type { CallFrame } from "./call-frame.ts";
import { decodeRevert } from "./decode-revert.ts";
import { containsBytes } from "./contains-bytes.ts";
import type { KnownAbis } from "./known-abis.ts";
import { machineFailureOf } from "./machine-failure.ts";
import type { FailureRevert } from "./simulation-failure.ts";

/**
 * The path from a failed call down to the call where the failure began: each step is the call whose failure
 * its caller passed on. Caught failures are not part of it.
 */
export function failingPath(failed: CallFrame, abis: KnownAbis): readonly CallFrame[] {
  const path = [failed];
  const budget = { bytes: MAX_READ_BYTES };
  for (let cause = causeOf(failed, abis, budget); cause !== undefined; cause = causeOf(cause, abis, budget))
    path.push(cause);
  return path;
}

/**
 * Limits of the comparison: the latest failed calls of one caller, and the first bytes of its revert data.
 * Gas alone would allow very many.
 */
const MAX_COMPARED = 64;
const MAX_SEARCHED_BYTES = 32_768;
/**
 * Maximum number of bytes read per path. Large revert data costs its author almost nothing, and the search
 * blocks other work.
 */
const MAX_READ_BYTES = 2 ** 21;

/** Bytes that may still be read. */
interface Budget {
  bytes: number;
}

/** The call within `frame` whose failure made `frame` fail. */
function causeOf(frame: CallFrame, abis: KnownAbis, budget: Budget): CallFrame | undefined {
  const last = frame.calls.at(-1);
  const failed = frame.calls.filter(({ error }) => error !== undefined).slice(-MAX_COMPARED);
  // Passed on unchanged or wrapped in the caller's own error; the last of several equal failures.
  const passedOn = passedOnBy(frame, failed, budget);
  if (passedOn !== undefined) return passedOn;
  // Otherwise the last call is the cause if it failed and the caller gave no reason, or a generic one.
  if (last === undefined || last.error === undefined) return undefined;
  if (machineFailureOf(frame.error) !== undefined) {
    // The caller ran out of gas because its call used all of it.
    return machineFailureOf(last.error)?.label === machineFailureOf(frame.error)?.label ? last : undefined;
  }
  if (frame.output === "0x") return last;
  return spend(budget, lengthOf(frame.output)) && isGenericCallFailure(decodeRevert(frame.output, abis))
    ? last
    : undefined;
}

/**
 * The last of `failed` whose revert data occurs in `frame`'s revert data. Data shorter than a selector is
 * ignored, because it could match by chance.
 */
function passedOnBy(frame: CallFrame, failed: readonly CallFrame[], budget: Budget): CallFrame | undefined {
  const output = frame.output.slice(0, 2 + MAX_SEARCHED_BYTES * 2);
  const mismatches = new Set<Hex>();
  let searched: Uint8Array | undefined;
  for (const call of failed.toReversed()) {
    const inner = call.output;
    if (inner === "0x" || mismatches.has(inner)) continue;
    if (inner === frame.output) return call;
    if (inner.length >= 10 && inner.length <= output.length) {
      if (!spend(budget, lengthOf(output) + lengthOf(inner))) return undefined;
      // Compare bytes, not hex digits: a match at half a byte would be wrong.
      searched ??= bytesOf(output);
      if (containsBytes(searched, bytesOf(inner))) return call;
    }
    mismatches.add(inner);
  }
  return undefined;
}

/** Deducts `bytes` from the budget; returns false if it is exceeded and reading must stop. */
function spend(budget: Budget, bytes: number): boolean {
  budget.bytes -= bytes;
  return budget.bytes >= 0;
}

const lengthOf = (hex: string): number => (hex.length - 2) / 2;
const bytesOf = (hex: string): Uint8Array => Buffer.from(hex.slice(2), "hex");

const replacingErrors: ReadonlySet<string> = new Set([
  "FailedCall",
  "FailedInnerCall",
  "CallFailed",
  "ExecutionFailed",
  "SafeERC20FailedOperation",
  "TransferFailed",
  "TransferFromFailed",
  "ETHTransferFailed",
  "ApproveFailed",
  "ExecuteError",
  "FailedOpWithRevert",
  "FailedDeployment",
  "PostOpReverted",
]);
const replacingTexts =
  /^(?:ST|SA|STF|STE|GS013|TF)$|(?:call|transfer|transfer_from|execution|transaction|operation|approve|multicall|delegation)\w*[\s_:-]*(?:has\s+)?(?:failed|reverted|error)|failed to (?:call|send|transfer|execute)/i;

/** Whether this reason only says that an inner call failed, and so hides that call's own reason. */
export function isGenericCallFailure(revert: FailureRevert): boolean {
  if (revert.type === "customError") return replacingErrors.has(revert.name ?? "");
  return revert.type === "errorString" && replacingTexts.test(revert.message);
}
