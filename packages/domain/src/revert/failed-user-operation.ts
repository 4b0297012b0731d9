import { decodeAbiParameters } from "viem";
import type { Address, Hex } from "../ids/hex.ts";
import type { CallFrame, FrameLog } from "./call-frame.ts";

/**
 * keccak256("UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)"), the same in all
 * entry points (ERC-4337).
 */
export const USER_OPERATION_EVENT: Hex = "0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f";
const INNER_HANDLE_OP = "0x0042dc53";
const handlers: ReadonlySet<string> = new Set([
  // handleOps and handleAggregatedOps of the entry points 0.7 and 0.8
  "0x765e827f",
  "0xdbed18e0",
]);

export interface UserOperationResult {
  readonly userOpHash: Hex;
  readonly sender: Address;
  readonly success: boolean;
}

/** Reads one event of an entry point; undefined for any other log. */
export function readUserOperationEvent(log: FrameLog): UserOperationResult | undefined {
  const [topic, userOpHash, sender] = log.topics;
  if (topic !== USER_OPERATION_EVENT || userOpHash === undefined || sender === undefined) return undefined;
  try {
    const [, success] = decodeAbiParameters(
      [{ type: "uint256" }, { type: "bool" }, { type: "uint256" }, { type: "uint256" }],
      log.data,
    );
    return { userOpHash, sender: `0x${sender.slice(-40)}`, success };
  } catch {
    return undefined;
  }
}

/** A user operation that failed although `handleOps` did not. */
export interface FailedUserOperation {
  readonly sender: Address;
  /** The frames from the top-level call down to the call of the entry point. */
  readonly above: readonly CallFrame[];
  /** From the entry point down to the failed call; empty if the trace does not show it. */
  readonly failed: readonly CallFrame[];
}

/** Finds the first failed user operation anywhere in a transaction that succeeded. */
export function failedUserOperationIn(root: CallFrame): FailedUserOperation | undefined {
  const search = (frame: CallFrame, above: readonly CallFrame[]): FailedUserOperation | undefined => {
    if (frame.error !== undefined) return undefined;
    const pathToFrame = [...above, frame];
    if (handlers.has(frame.input.slice(0, 10))) {
      const operation = failedIn(frame);
      if (operation !== undefined) return { ...operation, above: pathToFrame };
    }
    for (const call of frame.calls) {
      const operation = search(call, pathToFrame);
      if (operation !== undefined) return operation;
    }
    return undefined;
  };
  return search(root, []);
}

function failedIn(handler: CallFrame): Omit<FailedUserOperation, "above"> | undefined {
  const entryPoint = handler.to;
  const inner = handler.calls.filter(
    (call) => call.to === entryPoint && call.input.startsWith(INNER_HANDLE_OP),
  );
  const events = [handler, ...inner]
    .flatMap(({ logs }) => logs)
    .filter(({ address }) => address === entryPoint)
    .flatMap((log) => readUserOperationEvent(log) ?? []);
  const event = events.find(({ success }) => !success);
  if (event === undefined) return undefined;
  const { sender } = event;
  for (const call of inner) {
    if (call.error !== undefined && mentions(call, sender)) return { sender, failed: [call] };
    const execution = call.calls.findLast(({ to, error }) => to === sender && error !== undefined);
    if (execution !== undefined) return { sender, failed: [call, execution] };
  }
  return { sender, failed: [] };
}

/** Searches only the first words of the data, which contain the sender: the rest may have any length. */
function mentions(call: CallFrame, sender: Address): boolean {
  return call.input.slice(0, 2 + 1_024 * 2).includes(sender.slice(2));
}
