import { depositAddressFactoryAbi } from "@causeway/contracts";
import type { Address, DepositAddressKey, Hex, OrderId } from "@causeway/domain";
import { encodeFunctionData } from "viem";
import type { CallPlan } from "@causeway/families/evm";

/** One deposit from an address. */
export interface SweptDeposit {
  readonly amount: bigint;
  readonly orderId: OrderId;
}

/**
 * The call with which the factory's operator deposits amounts of one currency from one address, atomically.
 */
export function sweepCall(
  factory: Address,
  key: DepositAddressKey,
  currency: Address,
  deposits: readonly SweptDeposit[],
): CallPlan {
  const [only, ...more] = deposits;
  const data: Hex =
    only !== undefined && more.length === 0
      ? encodeFunctionData({
          abi: depositAddressFactoryAbi,
          functionName: "sweep",
          args: [key, currency, only.amount, only.orderId],
        })
      : encodeFunctionData({
          abi: depositAddressFactoryAbi,
          functionName: "sweepMany",
          args: [deposits.map((deposit) => ({ key, currency, ...deposit }))],
        });
  return { to: factory, data, value: 0n };
}
