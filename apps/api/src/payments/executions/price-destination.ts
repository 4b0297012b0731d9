import { findInnerOperationRefusal, innerCallsAfterPayment } from "@causeway/chains";
import type { InnerCall } from "@causeway/chains";
import type { SimulationFailure } from "@causeway/domain";
import { amountToUsdUp, executionCost, ServiceError } from "@causeway/domain";
import type { Currency, Hex, RequestTerms } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { DestinationExecution } from "../executions.port.ts";
import type { Services } from "../../db/services.port.ts";
import { fillContractOf, type OwnKeys } from "../../chains/index.ts";
import { isNativeToContract } from "../payment-plan.ts";
import { gasOf } from "../../markets/index.ts";
import { maxGasOf, valueOf } from "../plan/gas-of-calls.ts";
import { payAndCall } from "../plan/pay-and-call.ts";
import { canRoute, simulateRouted } from "../plan/routed-fill.ts";
import { dataFeeCap, priceCap, withHeadroom } from "./price-execution.ts";
import { refusal } from "./read-execution.ts";
import type { DestinationCalls } from "./read-execution.ts";
import { salePriceOf } from "./value-sale.ts";
import type { SoldNative } from "./value-sale.ts";

type Needs = OwnKeys & Pick<Services, "chains" | "prices" | "quotePolicy" | "enginePolicy" | "events">;

export type PricedDestination =
  | { readonly kind: "reverts"; readonly failure: SimulationFailure }
  | {
      readonly kind: "priced";
      readonly destination: DestinationExecution;
      /**
       * Maximum cost of the calls beyond the payment, including the value they carry, in USD with 18
       * decimals.
       */
      readonly costUsd: bigint;
      /** The native tokens that the calls carry. */
      readonly sold: SoldNative;
      /** The calls and every call that they make; undefined if the node cannot trace them. */
      readonly calls: readonly InnerCall[] | undefined;
    };

/**
 * Prices calls that run with a fill, by simulating the whole fill: the payment of the quoted output, then the
 * calls.
 * @param paidIn currencies of the app balance that can pay for native tokens that the calls carry
 * @throws ServiceError if the calls are not allowed, or cannot be checked now; RpcFault
 */
export async function priceDestination(
  services: Needs,
  terms: RequestTerms,
  destinationCalls: DestinationCalls,
  paidIn: readonly Currency[],
  signal: AbortSignal,
): Promise<PricedDestination> {
  if (terms.outputCalls !== undefined)
    throw refusal("destinationChainExecutionData is not supported for a quote with txs");
  // The fill would refuse them too, and the deposit would only be refunded.
  if (terms.destination.paidFrom !== undefined)
    throw refusal("destinationChainExecutionData is not supported for a quote whose fill swaps");
  if (terms.gasTopup !== undefined)
    throw refusal("destinationChainExecutionData is not supported for a quote with topupGas");
  const { chainId, currency, expectedAmount } = terms.destination;
  const connected = services.chains.get(chainId);
  const delivered = services.chains.currency(chainId, currency);
  if (connected === undefined || delivered === undefined)
    throw refusal(
      "destinationChainExecutionData requires a quote to an enabled EVM chain, in a currency that is configured there",
      "UNSUPPORTED_CHAIN",
    );
  if (terms.order.output.extraData !== fillContractOf(connected))
    throw refusal(
      "destinationChainExecutionData: the quote names a router that is no longer in use; request a new quote",
    );
  const { chain, pulse } = connected;
  const solver = services.signer.address;
  const routing = await canRoute(connected, solver, currency, expectedAmount);
  if (routing === "notApproved")
    throw refusal(
      `destinationChainExecutionData is not supported on ${chain.displayName}: the solver pays with ${delivered.symbol} and has not approved the approval proxy to spend enough of it`,
    );
  if (routing === "insufficientFunds")
    throw new ServiceError(
      "SERVICE_UNAVAILABLE",
      "destinationChainExecutionData: the fill could not be simulated; try again",
    );

  const fees = pulse.gasPrices();
  const payment = { currency, recipient: terms.recipient, amount: expectedAmount, orderId: terms.orderId };
  const { router, approvalProxy } = chain.contracts;
  const routed = { payment, solver, router, approvalProxy };
  const [simulated, dataFeeWei] = await Promise.all([
    simulateRouted(services, connected, routed, payAndCall(routed, destinationCalls), { fees, signal }),
    dataFeeOf(connected, destinationCalls),
  ]);
  switch (simulated.kind) {
    case "reverts":
      return simulated;
    case "forbidden":
      throw refusal(`destinationChainExecutionData: ${simulated.message}`);
    case "insufficientFunds":
    case "unseen":
      services.events.alarm("execution_unseen", { chain: chain.name, why: simulated.kind });
      throw new ServiceError(
        "SERVICE_UNAVAILABLE",
        "destinationChainExecutionData: the fill could not be simulated; try again",
      );
    case "ok":
      break;
    default:
      return simulated satisfies never;
  }
  // User operations would charge their account or paymaster for gas that the app already pays.
  const refusedOps = findInnerOperationRefusal(
    simulated.outcome.calls ?? destinationCalls.calls.map(({ data }) => ({ userOperations: data })),
  );
  if (refusedOps !== undefined) throw refusal(`destinationChainExecutionData: ${refusedOps.message}`);
  const native = { decimals: chain.native.decimals, priceUsd: await services.prices.usd(chain.native) };
  const valueWei = valueOf(destinationCalls.calls);
  const salePrice = valueWei > 0n ? await salePriceOf(services, chain.native, paidIn) : undefined;
  const salePriceUsd = salePrice?.salePriceUsd;
  const toContract = await isNativeToContract(connected, currency, terms.recipient);
  const plainGas = gasOf(services.quotePolicy.gas.fill, delivered, toContract);
  const fillGas = withHeadroom(simulated.outcome.gas);
  const destination: DestinationExecution = {
    ...destinationCalls,
    plainGas,
    extraGas: fillGas > plainGas ? fillGas - plainGas : 0n,
    maxFeePerGas: priceCap(fees, chain),
    nativePriceUsd: native.priceUsd,
    ...(salePriceUsd !== undefined && { salePriceUsd }),
  };
  const costOf = (gas: bigint, carriedWei: bigint): bigint =>
    executionCost(
      {
        gas,
        weiPerGas: destination.maxFeePerGas,
        dataFeeWei: dataFeeCap(dataFeeWei),
        valueWei: carriedWei,
        flatUsd: 0n,
      },
      { ...native, salePriceUsd },
    ).totalUsd;
  const succeededUsd = costOf(destination.extraGas, valueWei);
  // If the calls revert in the block, the quote pays for none of the gas, and their native tokens are
  // returned.
  const revertedUsd = costOf(maxGasOf(destination), 0n);
  const reached = simulated.outcome.calls;
  return {
    kind: "priced",
    destination,
    costUsd: succeededUsd > revertedUsd ? succeededUsd : revertedUsd,
    sold: {
      native: chain.native,
      priceUsd: salePrice?.priceUsd ?? native.priceUsd,
      usd: amountToUsdUp(valueWei, native),
    },
    calls: reached && innerCallsAfterPayment(reached, { calls: destinationCalls.calls, payment, router }),
  };
}

/** The data fee of the calls, in wei. The data fee of the payment is part of the quote. */
async function dataFeeOf(
  { chain, connection }: Pick<ConnectedChain, "chain" | "connection">,
  { calls }: DestinationCalls,
): Promise<bigint> {
  const data: Hex = `0x${calls.map((call) => call.data.slice(2)).join("")}`;
  return await connection.reader.dataFee({ to: chain.contracts.router, data, value: 0n });
}
