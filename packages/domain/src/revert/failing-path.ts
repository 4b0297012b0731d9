import type { Hex } from "../ids/hex.ts";
import type { CallFrame } from "./call-frame.ts";
import { decodeRevert } from "./decode-revert.ts";
import type { KnownAbis } from "./known-abis.ts";
import { machineFailureOf } from "./machine-failure.ts";
import type { FailureRevert } from "./simulation-failure.ts";

/**
 * From a failed call to the one that failed of itself: each step is the call whose failure its caller passed on. Calls whose failure was caught
 * are on no path.
 */
export function failingPath(failed: CallFrame, known: KnownAbis): readonly CallFrame[] {
  const path = [failed];
  for (let cause = causeOf(failed, known); cause !== undefined; cause = causeOf(cause, known))
    path.push(cause);
  return path;
}

/** Failed calls of one caller, the latest, and bytes of what it reverted with, that are compared: there may be as many as gas lasts for. */
const MAX_COMPARED = 64;
const MAX_SEARCHED_BYTES = 32_768;

/** The call within `frame` for whose failure `frame` failed. */
function causeOf(frame: CallFrame, known: KnownAbis): CallFrame | undefined {
  const last = frame.calls.at(-1);
  const failed = frame.calls.filter(({ error }) => error !== undefined).slice(-MAX_COMPARED);
  // Passed on as it was or wrapped into an error of the caller's own; the last of several that are alike.
  const passedOn = failed.findLast((call) => call.output !== "0x" && contains(frame.output, call.output));
  if (passedOn !== undefined) return passedOn;
  // Nothing was called after it, and the caller gave no reason of its own, or one that only says that a call failed.
  if (last === undefined || last.error === undefined) return undefined;
  if (machineFailureOf(frame.error) !== undefined) {
    // A caller that has no gas left because its call took it all.
    return machineFailureOf(last.error)?.label === machineFailureOf(frame.error)?.label ? last : undefined;
  }
  return frame.output === "0x" || onlySaysThatACallFailed(decodeRevert(frame.output, known))
    ? last
    : undefined;
}

/** Data that was passed on begins on a byte; shorter than a selector it could be anywhere by chance. */
function contains(output: Hex, inner: Hex): boolean {
  if (output === inner) return true;
  if (inner.length < 10) return false;
  const searched = output.slice(0, 2 + MAX_SEARCHED_BYTES * 2);
  for (let at = searched.indexOf(inner.slice(2)); at !== -1; at = searched.indexOf(inner.slice(2), at + 1)) {
    if (at % 2 === 0) return true;
  }
  return false;
}

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

/** True of reasons by which a caller replaces those of the call that it made. */
export function onlySaysThatACallFailed(revert: FailureRevert): boolean {
  if (revert.type === "customError") return replacingErrors.has(revert.name ?? "");
  return revert.type === "errorString" && replacingTexts.test(revert.message);
}
