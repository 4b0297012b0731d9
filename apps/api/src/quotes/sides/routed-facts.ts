import type { Chain, RoutedFacts } from "@causeway/domain";
import { formatAmount } from "@causeway/domain";
import type { RouteSwap } from "../routing/find-swaps.ts";
import { swapAndDeposit, swapAndPay } from "../routing/routed-calls.ts";
import { routedDepositGas, routedSwapGas } from "../routing/step-gas.ts";
import type { StepsFacts } from "./side.ts";

/** The facts of the user's transaction through the router, for its step. */
export function routedFacts(
  chain: Chain,
  { policy, originCurrency, destinationCurrency, tradeType, route, terms, guarantee }: StepsFacts,
  swap: RouteSwap,
): Pick<RoutedFacts, "id" | "description" | "to" | "data" | "gasUnits" | "approvalProxy"> {
  const { approvalProxy } = chain.contracts;
  const isSwap = route.kind === "swap";
  const routedSwap = {
    chain,
    user: terms.user,
    paid: originCurrency,
    pulled: guarantee.maxInput,
    swap,
    received: isSwap ? destinationCurrency : route.deposited,
    minimum: isSwap ? guarantee.minimumAmount : (guarantee.minDeposit ?? terms.origin.amount),
  };
  const inputText = `${formatAmount(guarantee.maxInput, originCurrency.decimals)} ${originCurrency.symbol}`;
  if (isSwap)
    return {
      id: "swap",
      description: `Swap ${tradeType === "EXACT_OUTPUT" ? "at most " : ""}${inputText} for ${destinationCurrency.symbol}`,
      ...swapAndPay(routedSwap, {
        recipient: terms.recipient,
        requestId: terms.requestId,
        isExactOutput: tradeType === "EXACT_OUTPUT",
      }),
      gasUnits: routedSwapGas(policy.gas, originCurrency, swap),
      approvalProxy,
    };
  return {
    id: "deposit",
    description: `Swap ${inputText} for ${route.deposited.symbol} and deposit it to start the request`,
    ...swapAndDeposit(routedSwap, terms.orderId),
    gasUnits: routedDepositGas(policy.gas, originCurrency, route.deposited, swap),
    approvalProxy,
  };
}
