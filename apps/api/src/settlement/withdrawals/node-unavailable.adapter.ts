import { RpcFault } from "@causeway/chains";
import { BaseError, ContractFunctionRevertedError, RpcRequestError } from "viem";
import type { HubChain } from "../hub.port.ts";
import { NodeUnavailable } from "./withdrawals.port.ts";

/**
 * Names the node that failed. The library's own message holds its version and the call's bytes, which do not
 * help an operator.
 * @throws NodeUnavailable; other errors unchanged
 */
export async function orUnavailable<T>(node: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw unavailableIn(node, error) ?? error;
  }
}

/** Wraps a hub so that its RPC errors name its node. */
export function withNodeErrors(hub: HubChain): HubChain {
  const { lane } = hub;
  const { name } = hub.hub;
  const { reader, writer } = lane.connection;
  return {
    ...hub,
    lane: {
      ...lane,
      connection: { reader: withNamedErrors(name, reader), writer: withNamedErrors(name, writer) },
      final: (account) => orUnavailable(name, () => lane.final(account)),
      nativeBalance: (account) => orUnavailable(name, () => lane.nativeBalance(account)),
    },
    executed: (keys, blockTag) => orUnavailable(name, () => hub.executed(keys, blockTag)),
    final: (keys, accounts) => orUnavailable(name, () => hub.final(keys, accounts)),
    refusal: (execution, sender) => orUnavailable(name, () => hub.refusal(execution, sender)),
    signers: () => orUnavailable(name, () => hub.signers()),
    balance: (owner, tokenId, blockTag) => orUnavailable(name, () => hub.balance(owner, tokenId, blockTag)),
    recordedWithdrawal: (address, blockTag) =>
      orUnavailable(name, () => hub.recordedWithdrawal(address, blockTag)),
  };
}

/** Wraps every method of a reader or writer: all of them query the node. */
function withNamedErrors<T extends object>(node: string, target: T): T {
  return new Proxy(target, {
    get(inner, key): unknown {
      const member: unknown = Reflect.get(inner, key);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) =>
        await orUnavailable(node, async () => (await Reflect.apply(member, inner, args)) as unknown);
    },
  });
}

function unavailableIn(node: string, error: unknown): Error | undefined {
  const fault = causeOf(error, (cause) => cause instanceof RpcFault);
  // Another chain than the configured one: a retry does not help.
  if (fault instanceof RpcFault)
    return fault.retryable ? new NodeUnavailable(node, `${fault.method}: ${fault.reason}`) : fault;
  if (!(error instanceof BaseError)) return undefined;
  // A revert would repeat: it is not an error of the node.
  const reverted = causeOf(error, (cause) => cause instanceof ContractFunctionRevertedError);
  if (reverted instanceof BaseError) return new Error(`${node}: ${reverted.shortMessage}`);
  const refused = causeOf(error, (cause) => cause instanceof RpcRequestError);
  if (refused instanceof RpcRequestError)
    return new NodeUnavailable(node, `the node refused: ${refused.details}`);
  return new Error(`${node}: ${error.shortMessage}`);
}

function causeOf(error: unknown, matches: (cause: unknown) => boolean): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (matches(cause)) return cause;
  return undefined;
}
