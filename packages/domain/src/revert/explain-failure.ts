import type { Hex } from "../ids/hex.ts";
import type { CallFrame } from "./call-frame.ts";
import { cleanText } from "./clean-text.ts";
import { decodeRevert, EMPTY_REVERT } from "./decode-revert.ts";
import { failedUserOperationIn } from "./failed-user-operation.ts";
import { failingPath, isGenericCallFailure } from "./failing-path.ts";
import type { KnownAbis } from "./known-abis.ts";
import { machineFailureOf } from "./machine-failure.ts";
import type { FailureFrame, FailureRevert, SimulationFailure } from "./simulation-failure.ts";

const REDEEM_DELEGATIONS = "0xcef6d209";
/** Maximum number of frames shown of a path; a longer path is shown by its two ends. */
const MAX_PATH = 64;

/**
 * Why a traced call fails; undefined if it does not. A user operation that failed inside the call counts as a
 * failure, even if the entry point continued.
 */
export function explainFailure(root: CallFrame, abis: KnownAbis): SimulationFailure | undefined {
  if (root.error !== undefined) return failureOn(failingPath(root, abis), abis);
  const operation = failedUserOperationIn(root);
  if (operation === undefined) return undefined;
  const { above, failed } = operation;
  const origin = failed.at(-1);
  const below = origin === undefined ? [] : [...failed.slice(0, -1), ...failingPath(origin, abis)];
  const failure = failureOn([...above, ...below], abis);
  if (origin !== undefined) return failure;
  const label = "USER_OPERATION_FAILED";
  const message = `The user operation of ${operation.sender} failed`;
  return { label, message, details: { ...failure.details, revert: { type: "empty", label, message } } };
}

/** Explains a failure for which the node reports only the revert data, not a trace. */
export function explainRevertData(
  call: Pick<CallFrame, "from" | "to" | "input" | "value">,
  revert: { readonly data: Hex; readonly reason: string },
  abis: KnownAbis,
): SimulationFailure {
  const frame: CallFrame = {
    ...call,
    type: "CALL",
    output: revert.data,
    gas: 0n,
    gasUsed: 0n,
    error:
      revert.data === "0x" && machineFailureOf(revert.reason) !== undefined
        ? revert.reason
        : "execution reverted",
    logs: [],
    calls: [],
  };
  return failureOn([frame], abis);
}

/** A failure of the call as a whole, without a reason from a contract. */
export function plainFailure(
  call: Pick<CallFrame, "to" | "input">,
  label: string,
  message: string,
  abis: KnownAbis,
): SimulationFailure {
  const frame = describe({ type: "CALL", to: call.to, input: call.input }, abis);
  const revert: FailureRevert = { type: "empty", label, message };
  return { label, message, details: { topLevel: frame, innermost: frame, path: [frame], revert } };
}

function failureOn(path: readonly CallFrame[], abis: KnownAbis): SimulationFailure {
  const revert = revertOn(path, abis);
  const frames = shortened(path).map((frame) => describe(frame, abis));
  const [topLevel] = frames;
  const innermost = frames.at(-1);
  if (topLevel === undefined || innermost === undefined)
    throw new RangeError("invariant violated: failure path without frames");
  return {
    label: revert.label,
    message: revert.message,
    details: { topLevel, innermost, path: frames, revert },
  };
}

/**
 * Why the path failed: the EVM's error of the innermost call, else the reason of the innermost call that has
 * one. Without any reason, an empty revert.
 */
function revertOn(path: readonly CallFrame[], abis: KnownAbis): FailureRevert {
  const innermost = path.at(-1);
  const machine = machineFailureOf(innermost?.error);
  if (machine !== undefined) return { type: "empty", ...machine };
  const hasReason = ({ error, output }: CallFrame): boolean => error !== undefined && output !== "0x";
  const reverted = path.findLast(hasReason);
  const decoded = reverted === undefined ? undefined : decodeRevert(reverted.output, abis);
  const isInRedeeming = path.some(({ input }) => input.startsWith(REDEEM_DELEGATIONS));
  if (isInRedeeming && (decoded === undefined || (reverted !== innermost && isGenericCallFailure(decoded)))) {
    return {
      ...(decoded ?? EMPTY_REVERT),
      label: "DELEGATION_REDEEM_FAILED",
      message: decoded === undefined ? "Redeeming the delegation failed" : decoded.message,
    };
  }
  return decoded ?? EMPTY_REVERT;
}

function describe(
  frame: Pick<CallFrame, "type" | "to" | "input"> & Partial<CallFrame>,
  abis: KnownAbis,
): FailureFrame {
  const { to, input, error, output, gasUsed } = frame;
  const isCreation = frame.type.startsWith("CREATE");
  const selector = isCreation || input.length < 10 ? undefined : (input.slice(0, 10) as Hex);
  const called = selector === undefined ? undefined : abis.functionOf(selector, to);
  const contract = (to === undefined ? undefined : abis.contractAt(to)) ?? called?.contract;
  const revert =
    error === undefined || output === undefined || output === "0x" ? undefined : decodeRevert(output, abis);
  return {
    type: cleanText(frame.type, 32),
    ...(to !== undefined && { address: to }),
    ...(contract !== undefined && { contract }),
    ...(called !== undefined && {
      function: called.contract === undefined ? called.name : `${called.contract}.${called.name}`,
    }),
    ...(selector !== undefined && { selector }),
    ...(error !== undefined && { error: cleanText(error) }),
    ...(revert !== undefined && { revertReason: revert.message }),
    ...(gasUsed !== undefined && { gasUsed: gasUsed.toString() }),
  };
}

function shortened(path: readonly CallFrame[]): readonly CallFrame[] {
  return path.length <= MAX_PATH ? path : [...path.slice(0, MAX_PATH / 2), ...path.slice(-MAX_PATH / 2)];
}
