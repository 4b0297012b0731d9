import { isBelowIntrinsicGas, NO_REVERT_DATA, NodeRefusal, simulateCall } from "@causeway/chains";
import type { RpcTransport, SimulationOutcome } from "@causeway/chains";
import { oracleAbi } from "@causeway/contracts";
import type { Address } from "@causeway/domain";
import { encodeFunctionData } from "viem";
import type { ExecutionGas } from "./hub.port.ts";
import type { SignedExecution } from "./settlement.port.ts";

/** What an execution takes at most, in units of gas, where it cannot be estimated by itself. */
const MAX = { execution: 110_000n, signature: 15_000n, action: 110_000n, byte: 40n };
/** What a batch adds to an execution: a call of the contract to itself, which passes on 63/64 of its gas. */
const IN_BATCH = { divisor: 8n, gas: 20_000n };

export interface WeighingFacts {
  readonly oracle: Address;
  readonly multisig: Address;
  readonly sender: Address;
  readonly threshold: number;
  /** Gas that one execution may use. */
  readonly room: bigint;
}

/**
 * Estimates what one execution takes in a batch.
 *
 * The call is `execute`, never `executeMultiple`: that one succeeds even when its executions run out of gas,
 * so an estimate of it could be far too low.
 *
 * @throws RpcFault when the node does not tell
 */
export async function executionGas(
  transport: RpcTransport,
  { oracle, multisig, sender, threshold, room }: WeighingFacts,
  { idempotencyKey, actions, signature }: SignedExecution,
): Promise<ExecutionGas> {
  const data = encodeFunctionData({
    abi: oracleAbi,
    functionName: "execute",
    args: [{ idempotencyKey, actions }, multisig, signature],
  });
  const call = { to: oracle, data, value: 0n, gasLimit: room };
  const outcome = await simulateCall(transport, sender, call).catch((error: unknown): SimulationOutcome => {
    if (error instanceof NodeRefusal && isBelowIntrinsicGas(error))
      return { kind: "reverts", data: NO_REVERT_DATA, reason: error.nodeText };
    throw error;
  });
  if (outcome.kind === "ok")
    return { kind: "needs", gas: outcome.gas + outcome.gas / IN_BATCH.divisor + IN_BATCH.gas };
  const most =
    MAX.execution +
    BigInt(threshold) * MAX.signature +
    BigInt(actions.length) * MAX.action +
    BigInt((data.length - 2) / 2) * MAX.byte;
  // It may wait for another one of its batch, or be refused: the contract says so with data. Without data it
  // ran out of gas.
  if (most <= room) return { kind: "needs", gas: most };
  const isRefused = outcome.kind === "reverts" && outcome.data !== NO_REVERT_DATA;
  return isRefused ? { kind: "needs", gas: room } : { kind: "tooLarge" };
}
