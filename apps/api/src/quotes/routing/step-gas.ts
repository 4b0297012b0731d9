import type { Currency } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { QuoteGas } from "../../markets/quote-policy.port.ts";
import type { Swapped } from "./exchanges.ts";

/**
 * Gas units of a deposit by the user, his approval included. `exchanged`: what is deposited comes out of it;
 * undefined: he pays it as it is.
 */
export function depositGasUnits(
  gas: QuoteGas,
  paid: Currency,
  deposited: Currency,
  exchanged: Swapped | undefined,
): bigint {
  const { steps } = gas;
  const isNative = paid.address === NATIVE_CURRENCY;
  if (paid.address === deposited.address)
    return isNative ? steps.depositNative : steps.approve + steps.depositErc20;
  return (isNative ? 0n : steps.approve) + routedDepositGas(gas, paid, deposited, exchanged);
}

/** Gas units of one transaction through the router that exchanges and deposits. */
export function routedDepositGas(
  { routed }: Pick<QuoteGas, "routed">,
  paid: Currency,
  deposited: Currency,
  exchanged: Swapped | undefined,
): bigint {
  const deposit = deposited.address === NATIVE_CURRENCY ? routed.depositNative : routed.depositErc20;
  return begin(routed, paid) + (exchanged?.gas ?? 0n) + deposit;
}

/** Gas units of one transaction through the router that exchanges and pays the recipient. */
export function routedSwapGas(
  { routed }: Pick<QuoteGas, "routed">,
  paid: Currency,
  swapped: Swapped,
): bigint {
  return begin(routed, paid) + swapped.gas + routed.pay;
}

function begin(routed: QuoteGas["routed"], paid: Currency): bigint {
  return paid.address === NATIVE_CURRENCY ? routed.native : routed.pulled;
}
