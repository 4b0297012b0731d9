import type { Chain, RoutedFacts } from "@causeway/domain";
import { formatAmount } from "@causeway/domain";
import type { Swapped } from "../routing/find-swaps.ts";
import { exchangeAndDeposit, exchangeAndPay } from "../routing/routed-calls.ts";
import { routedDepositGas, routedSwapGas } from "../routing/step-gas.ts";
import type { StepsFacts } from "./side.ts";

/** The facts of the user's transaction through the router, for its step. */
export function routedFacts(
  chain: Chain,
  { policy, originCurrency, destinationCurrency, tradeType, route, terms, guarantee }: StepsFacts,
  swapped: Swapped,
): Pick<RoutedFacts, "id" | "description" | "to" | "data" | "gasUnits" | "approvalProxy"> {
  const { approvalProxy } = chain.contracts;
  const isSwap = route.kind === "swap";
  const exchange = {
    chain,
    user: terms.user,
    paid: originCurrency,
    pulled: guarantee.maxInput,
    swapped,
    received: isSwap ? destinationCurrency : route.deposited,
    minimum: isSwap ? guarantee.minimumAmount : (guarantee.minDeposit ?? terms.origin.amount),
  };
  const inputText = `${formatAmount(guarantee.maxInput, originCurrency.decimals)} ${originCurrency.symbol}`;
  if (isSwap)
    return {
      id: "swap",
      description: `Swap ${tradeType === "EXACT_OUTPUT" ? "at most " : ""}${inputText} for ${destinationCurrency.symbol}`,
      ...exchangeAndPay(exchange, {
        recipient: terms.recipient,
        requestId: terms.requestId,
        exactOutput: tradeType === "EXACT_OUTPUT",
      }),
      gasUnits: routedSwapGas(policy.gas, originCurrency, swapped),
      approvalProxy,
    };
  return {
    id: "deposit",
    description: `Swap ${inputText} for ${route.deposited.symbol} and deposit it to start the request`,
    ...exchangeAndDeposit(exchange, terms.orderId),
    gasUnits: routedDepositGas(policy.gas, originCurrency, route.deposited, swapped),
    approvalProxy,
  };
}
