import { isBelowIntrinsicGas, NO_REVERT_DATA, NodeRefusal, simulateCall } from "@causeway/chains";
import type { RpcTransport, SimulationOutcome } from "@causeway/chains";
import { oracleAbi } from "@causeway/contracts";
import type { Address } from "@causeway/domain";
import { encodeFunctionData } from "viem";
import type { ExecutionGas } from "./hub.port.ts";
import type { SignedExecution } from "./settlement.port.ts";

/** Upper bounds in gas units, for executions that cannot be estimated alone. */
const MAX_GAS = { execution: 110_000n, signature: 15_000n, action: 110_000n, byte: 40n };
/** Overhead of an execution in a batch: the contract calls itself and forwards 63/64 of its gas. */
const IN_BATCH = { divisor: 8n, gas: 20_000n };

export interface GasFacts {
  readonly oracle: Address;
  readonly multisig: Address;
  readonly sender: Address;
  readonly threshold: number;
  /** Gas that one execution may use. */
  readonly maxGas: bigint;
}

/**
 * Estimates the gas of one execution in a batch. Calls `execute`, never `executeMultiple`: the latter
 * succeeds even when its executions run out of gas, so its estimate could be far too low.
 * @throws RpcFault
 */
export async function executionGas(
  transport: RpcTransport,
  { oracle, multisig, sender, threshold, maxGas }: GasFacts,
  { idempotencyKey, actions, signature }: SignedExecution,
): Promise<ExecutionGas> {
  const data = encodeFunctionData({
    abi: oracleAbi,
    functionName: "execute",
    args: [{ idempotencyKey, actions }, multisig, signature],
  });
  const call = { to: oracle, data, value: 0n, gasLimit: maxGas };
  const outcome = await simulateCall(transport, sender, call).catch((error: unknown): SimulationOutcome => {
    if (error instanceof NodeRefusal && isBelowIntrinsicGas(error))
      return { kind: "reverts", data: NO_REVERT_DATA, reason: error.nodeText };
    throw error;
  });
  if (outcome.kind === "ok")
    return { kind: "needs", gas: outcome.gas + outcome.gas / IN_BATCH.divisor + IN_BATCH.gas };
  const max =
    MAX_GAS.execution +
    BigInt(threshold) * MAX_GAS.signature +
    BigInt(actions.length) * MAX_GAS.action +
    BigInt((data.length - 2) / 2) * MAX_GAS.byte;
  // A revert with data: it may depend on another execution of its batch. Without data it ran out of gas.
  if (max <= maxGas) return { kind: "needs", gas: max };
  const isRefused = outcome.kind === "reverts" && outcome.data !== NO_REVERT_DATA;
  return isRefused ? { kind: "needs", gas: maxGas } : { kind: "tooLarge" };
}
