import type { FeeCaps } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import type { WorkerServices } from "../../db/services.port.ts";
import type { KeyName, LaneLimits, Refusal, SpendingLimit } from "./limits.port.ts";

/** The strictest of all limits that apply to a key on a chain. */
export function limitsOfLane(
  limits: readonly SpendingLimit[] | undefined,
  { key, chainId }: { readonly key: KeyName | undefined; readonly chainId: number },
): LaneLimits {
  const applying = (limits ?? []).filter(
    (limit) => (limit.key ?? key) === key && (limit.chainId ?? chainId) === chainId,
  );
  const strictest = (field: keyof LaneLimits): bigint | undefined =>
    applying.reduce<bigint | undefined>((min, { [field]: value }) => {
      if (value === undefined) return min;
      return min === undefined || value < min ? value : min;
    }, undefined);
  return {
    transactionUsd: strictest("transactionUsd"),
    dayUsd: strictest("dayUsd"),
    maxFeePerGasWei: strictest("maxFeePerGasWei"),
  };
}

/** Lowers fees to the key's limit. */
export function capFees(
  { maxFeePerGas, maxPriorityFeePerGas }: FeeCaps,
  { maxFeePerGasWei: max }: LaneLimits,
): FeeCaps {
  if (max === undefined || maxFeePerGas <= max) return { maxFeePerGas, maxPriorityFeePerGas };
  return { maxFeePerGas: max, maxPriorityFeePerGas: maxPriorityFeePerGas < max ? maxPriorityFeePerGas : max };
}

/** @returns undefined: the limit allows the fee */
export function judgeFee(maxFeePerGas: bigint, { maxFeePerGasWei }: LaneLimits): Refusal | undefined {
  if (maxFeePerGasWei === undefined || maxFeePerGas <= maxFeePerGasWei) return undefined;
  return {
    rule: "fee",
    found: `${maxFeePerGas} wei per gas`,
    limit: `at most ${maxFeePerGasWei} wei per gas`,
  };
}

type Keys = Pick<WorkerServices, "signer" | "executor" | "depositAddressOperator" | "payoutContracts"> &
  Partial<Pick<WorkerServices, "chains">>;

/** The key of an account. Undefined: none of the service's keys. */
export function keyOf(
  { signer, executor, depositAddressOperator, payoutContracts, chains }: Keys,
  {
    chainId,
    sender,
    leg,
  }: { readonly chainId: number; readonly sender: Address; readonly leg: { readonly kind: string } },
): KeyName | undefined {
  // Only a process that makes payouts signs with the allocator's key: no row makes another process do so.
  if (sender === signer?.address)
    return leg.kind === "payout" && payoutContracts !== undefined ? "allocator" : "solver";
  if (sender === executor?.address) return "executor";
  if (sender === depositAddressOperator?.address) return "depositAddressOperator";
  return sender === chains?.nonEvm?.(chainId)?.connection.solver ? "solver" : undefined;
}
