import type { Currency } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { QuoteGas } from "../../markets/quote-policy.port.ts";
import type { RouteSwap } from "./find-swaps.ts";

/**
 * Gas units of a deposit by the user, including an approval. `originSwap` is the swap whose output is
 * deposited; undefined: the payment itself is deposited.
 */
export function depositGasUnits(
  gas: QuoteGas,
  paid: Currency,
  deposited: Currency,
  originSwap: RouteSwap | undefined,
): bigint {
  const { steps } = gas;
  const isNative = paid.address === NATIVE_CURRENCY;
  if (paid.address === deposited.address)
    return isNative ? steps.depositNative : steps.approve + steps.depositErc20;
  return (isNative ? 0n : steps.approve) + routedDepositGas(gas, paid, deposited, originSwap);
}

/** Gas units of one transaction through the router that swaps and deposits. */
export function routedDepositGas(
  { routed }: Pick<QuoteGas, "routed">,
  paid: Currency,
  deposited: Currency,
  originSwap: RouteSwap | undefined,
): bigint {
  const deposit = deposited.address === NATIVE_CURRENCY ? routed.depositNative : routed.depositErc20;
  return startGas(routed, paid) + (originSwap?.gas ?? 0n) + deposit;
}

/** Gas units of one transaction through the router that swaps and pays the recipient. */
export function routedSwapGas({ routed }: Pick<QuoteGas, "routed">, paid: Currency, swap: RouteSwap): bigint {
  return startGas(routed, paid) + swap.gas + routed.pay;
}

function startGas(routed: QuoteGas["routed"], paid: Currency): bigint {
  return paid.address === NATIVE_CURRENCY ? routed.native : routed.pulled;
}
