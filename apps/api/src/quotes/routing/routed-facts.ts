import type { RoutedFacts } from "@causeway/domain";
import { formatAmount } from "@causeway/domain";
import type { QuotePolicy } from "../../markets/quote-policy.port.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { Agreement } from "../quote-terms.ts";
import type { ChosenRoute } from "./chosen-route.ts";
import type { Swapped } from "./exchanges.ts";
import { exchangeAndDeposit, exchangeAndPay } from "./routed-calls.ts";
import { routedDepositGas, routedSwapGas } from "./step-gas.ts";

/** The facts of the user's transaction through the router, for its step. */
export function routedFacts(
  {
    policy,
    question,
    route,
    agreement,
  }: {
    readonly policy: Pick<QuotePolicy, "gas">;
    readonly question: QuoteQuestion;
    readonly route: ChosenRoute;
    readonly agreement: Agreement;
  },
  swapped: Swapped,
): Pick<RoutedFacts, "id" | "description" | "to" | "data" | "gasUnits" | "approvalProxy"> {
  const { origin, originCurrency, destinationCurrency, tradeType } = question;
  const { terms, promise } = agreement;
  const { approvalProxy } = origin.chain.contracts;
  const isSwap = route.kind === "swap";
  const exchange = {
    chain: origin.chain,
    user: terms.user,
    paid: originCurrency,
    pulled: promise.maxInput,
    swapped,
    received: isSwap ? destinationCurrency : route.deposited,
    minimum: isSwap ? promise.minimumAmount : (promise.minDeposit ?? terms.origin.amount),
  };
  const given = `${formatAmount(promise.maxInput, originCurrency.decimals)} ${originCurrency.symbol}`;
  if (isSwap)
    return {
      id: "swap",
      description: `Swap ${tradeType === "EXACT_OUTPUT" ? "at most " : ""}${given} for ${destinationCurrency.symbol}`,
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
    description: `Swap ${given} for ${route.deposited.symbol} and deposit it to start the request`,
    ...exchangeAndDeposit(exchange, terms.orderId),
    gasUnits: routedDepositGas(policy.gas, originCurrency, route.deposited, swapped),
    approvalProxy,
  };
}
