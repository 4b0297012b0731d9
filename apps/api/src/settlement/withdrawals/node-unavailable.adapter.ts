import { RpcFault } from "@causeway/chains";
import {
  BaseError,
  ContractFunctionRevertedError,
  RpcRequestError,
  WaitForTransactionReceiptTimeoutError,
} from "viem";
import type { HubChain } from "../hub.port.ts";
import { NodeUnavailable } from "./withdrawals.port.ts";

/**
 * Says whose node failed, in our words: what the library makes of it names its version and the call's bytes,
 * and tells an operator nothing.
 * @throws NodeUnavailable; all else as it came
 */
export async function orAway<T>(node: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw awayIn(node, error) ?? error;
  }
}

/** The hub, whose faults are told as those of its node. */
export function withNodeErrors(hub: HubChain): HubChain {
  const { name } = hub.hub;
  return {
    ...hub,
    nonces: (account) => orAway(name, () => hub.nonces(account)),
    executed: (keys, at) => orAway(name, () => hub.executed(keys, at)),
    refusal: (execution, sender) => orAway(name, () => hub.refusal(execution, sender)),
    signers: () => orAway(name, () => hub.signers()),
    gasPrices: () => orAway(name, () => hub.gasPrices()),
    broadcast: (raw) => orAway(name, () => hub.broadcast(raw)),
    balance: (owner, tokenId, at) => orAway(name, () => hub.balance(owner, tokenId, at)),
    recordedWithdrawal: (address, at) => orAway(name, () => hub.recordedWithdrawal(address, at)),
  };
}

function awayIn(node: string, error: unknown): Error | undefined {
  const fault = causeOf(error, (cause) => cause instanceof RpcFault);
  // Another chain than the configured one: no waiting helps.
  if (fault instanceof RpcFault)
    return fault.retryable ? new NodeUnavailable(node, `${fault.method}: ${fault.reason}`) : fault;
  if (!(error instanceof BaseError)) return undefined;
  const late = causeOf(error, (cause) => cause instanceof WaitForTransactionReceiptTimeoutError);
  if (late !== undefined) return new NodeUnavailable(node, "the transaction that was sent is not mined yet");
  // A contract that says no says it again: that is no fault of the node.
  const reverted = causeOf(error, (cause) => cause instanceof ContractFunctionRevertedError);
  if (reverted instanceof BaseError) return new Error(`${node}: ${reverted.shortMessage}`);
  const refused = causeOf(error, (cause) => cause instanceof RpcRequestError);
  if (refused instanceof RpcRequestError)
    return new NodeUnavailable(node, `the node refused: ${refused.details}`);
  return new Error(`${node}: ${error.shortMessage}`);
}

function causeOf(error: unknown, isIt: (cause: unknown) => boolean): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (isIt(cause)) return cause;
  return undefined;
}
