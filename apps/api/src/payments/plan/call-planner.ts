import { amountToUsdUp, FORMER_ROUTER, formatUsd } from "@causeway/domain";
import type { Currency, OutputCalls, PricedUnit } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import { fillContractOf } from "../../chains/index.ts";
import { gasOf } from "../../markets/index.ts";
import type { ExecutionRecord } from "../executions.port.ts";
import { whySaleWaits } from "../executions/value-sale.ts";
import { fillSwapQuoter } from "../fill-swap.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { uncoveredBurnUsd, unpaidRevertedGasUsd } from "../gas-used-by-fills.ts";
import { gasAllowance, isNativeToContract } from "../payment-plan.ts";
import { topupGas } from "../gas-units-of-topup.ts";
import { fillRefusal, fillWait } from "./fill-result.ts";
import type { FillPlanner, FillInput } from "./fill-result.ts";
import { maxGasOf, maxGasOfCalls, valueOf } from "./gas-of-calls.ts";
import { planTransaction } from "./plan-transaction.ts";
import type { CallsOfFill } from "./routed-fill.ts";

/** Plans fills on an EVM chain. */
export function callPlanner(
  services: WorkerServices,
  connected: ConnectedChain,
  { currency, recipient }: Pick<FillInput["payment"], "currency" | "recipient">,
): FillPlanner {
  const { quotePolicy } = services;
  return {
    paysContract: async () => await isNativeToContract(connected, currency, recipient),
    swapQuoter: ({ destination: { paidFrom } }) =>
      paidFrom &&
      fillSwapQuoter(services.liquidity, connected.chain, { paidFrom, currency }, quotePolicy.gas.routed),
    async plan(input) {
      const { terms, basis, execution, payment, budget, sponsoredUsd } = input;
      const { native: nativeToken } = connected.chain;
      const native = { decimals: nativeToken.decimals, priceUsd: await services.prices.usd(nativeToken) };
      // A gas top-up calls the recipient, who may have deployed code since the quote.
      const runsForeignCode =
        payment.toContract ||
        budget !== undefined ||
        terms.outputCalls !== undefined ||
        terms.gasTopup !== undefined;
      const isRouted = runsForeignCode || execution?.destination !== undefined;
      if (isRouted && terms.order.output.extraData !== fillContractOf(connected))
        return fillRefusal("NO_QUOTES", FORMER_ROUTER);
      const mayBurn = basis.kind === "deposit" && runsForeignCode;
      const spentUsd = mayBurn ? await unpaidRevertedGasUsd(services) : 0n;
      if (mayBurn && spentUsd >= services.enginePolicy.maxUnpaidRevertedGasUsd)
        return fillWait(
          `reverted fills cost the solver $${formatUsd(spentUsd)} in 24 hours, so REVERTED_GAS_DAILY_USD is used up`,
          "SOLVER_CAPACITY_EXCEEDED",
        );
      const sponsored = execution?.destination;
      // The reservation covers one attempt: calls that already had a cost, or are no longer paid for, are not
      // retried.
      if (sponsored !== undefined && (execution?.settled === true || execution?.destinationUsd !== undefined))
        return fillRefusal("EXECUTION_REVERTED", "the calls of the fill were already charged or given up");
      const planned = await planTransaction(services, connected, {
        payment: { ...payment, maxGas: maxGasOfFill(services, connected, input, native) },
        swap: budget,
        calls: terms.outputCalls && callsOf(terms.outputCalls),
        execution: sponsored,
        topup: terms.gasTopup?.amount,
      });
      if (planned.kind !== "ready") return planned;
      const why = await whyCallsWait(services, execution, nativeToken);
      if (why !== undefined) return fillWait(why, "SLIPPAGE");
      const { plan } = planned;
      const uncoveredUsd = mayBurn
        ? await uncoveredBurnUsd(services, terms, basis.deposit, plan, sponsoredUsd)
        : 0n;
      const topupUsd = amountToUsdUp(terms.gasTopup?.amount ?? 0n, native);
      return { kind: "ready", plan, topupUsd, burn: { spentUsd, uncoveredUsd }, sharesCommits: true };
    },
  };
}

/** Maximum gas units of the fill without its swap, for which the quote has charged. */
function maxGasOfFill(
  services: WorkerServices,
  connected: ConnectedChain,
  { terms, execution, payment: { toContract }, budget }: FillInput,
  native: PricedUnit,
): bigint {
  const { outputCalls, gasTopup, destination } = terms;
  if (outputCalls !== undefined) return maxGasOfCalls(services, outputCalls);
  if (execution?.destination !== undefined) return maxGasOf(execution.destination);
  const { gas } = services.quotePolicy;
  const currency = services.chains.currency(destination.chainId, destination.currency);
  // The output of a swap may be any token.
  const isPlain = budget === undefined && gasTopup === undefined && currency !== undefined;
  const priced = isPlain
    ? gasOf(gas.fill, currency, toContract)
    : gas.swapFill + (topupGas(gas, gasTopup?.amount) ?? 0n);
  return gasAllowance(connected, priced, native);
}

/** A fill must leave nothing if nothing was expected. */
function callsOf({ calls, authorizationList, left }: OutputCalls): CallsOfFill {
  const leavesNothing = left.expected === 0n && left.minimum === 0n;
  return {
    calls,
    ...(authorizationList && { authorizationList }),
    minLeft: leavesNothing ? undefined : left.minimum,
  };
}

/** Why the price of the native tokens that sponsored calls carry forbids them now; undefined: it does not. */
async function whyCallsWait(
  services: WorkerServices,
  execution: ExecutionRecord | undefined,
  native: Currency,
): Promise<string | undefined> {
  const calls = execution?.destination;
  if (execution === undefined || calls === undefined || valueOf(calls.calls) === 0n) return undefined;
  return await whySaleWaits(
    services,
    execution.requestId,
    native,
    calls.salePriceUsd ?? calls.nativePriceUsd,
  );
}
