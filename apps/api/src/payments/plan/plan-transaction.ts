import { nativeTransferCall } from "@causeway/chains";
import type { FeeCaps } from "@causeway/chains";
import { NATIVE_CURRENCY, unreachable } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { OwnKeys } from "../../chains/index.ts";
import type { Services } from "../../db/services.port.ts";
import { swapInBudget, MAX_SWAP_GAS_FACTOR } from "../swap-in-budget.ts";
import type { FillBudget } from "../swap-in-budget.ts";
import type { DestinationExecution } from "../executions.port.ts";
import { withHeadroom } from "../executions/price-execution.ts";
import { planPayment, excessiveGas } from "../payment-plan.ts";
import type { PaymentOfOrder } from "../payment-plan.ts";
import { buyAndPay } from "./buy-and-pay.ts";
import { findRefusedCombination } from "./combinations.ts";
import { fillRefusal, fillWait } from "./fill-result.ts";
import type { TransactionPlanResult } from "./fill-result.ts";
import { giveToCalls } from "./give-to-calls.ts";
import { payAndCall } from "./pay-and-call.ts";
import { canRoute, logsOf, simulateRouted } from "./routed-fill.ts";
import type { SwapForFill, CallsOfFill, RoutedFill, RoutedPayment } from "./routed-fill.ts";

/** Services for planning fills, whether to send or only to simulate them. */
export interface FillPlanServices extends OwnKeys, Pick<Services, "quotePolicy"> {
  readonly liquidity: Services["liquidity"];
}

/** The payment and the calls of one transaction. */
export interface FillParts {
  /** `maxGas` covers everything except a swap, whose gas is added. */
  readonly payment: PaymentOfOrder;
  /** Buys the output in a swap. */
  readonly swap?: FillBudget | undefined;
  /** Calls that receive the whole output. */
  readonly calls?: CallsOfFill | undefined;
  /** Sponsored calls after the payment. */
  readonly execution?: DestinationExecution | undefined;
  /** Additional native tokens for the recipient, wei. */
  readonly topup?: bigint | undefined;
}

/**
 * Plans a fill in one transaction, simulated once on the latest state. Its spending is limited on chain.
 * @throws RpcFault; ServiceError RPC_HTTP_ERROR, SERVICE_UNAVAILABLE if it cannot be decided now; retry
 */
export async function planTransaction(
  services: FillPlanServices,
  connected: ConnectedChain,
  parts: FillParts,
): Promise<TransactionPlanResult> {
  const { payment: input, swap, calls, execution, topup } = parts;
  const excluded = findRefusedCombination("calls", { swap, calls, execution, topup });
  if (excluded !== undefined) return excluded;
  if ([swap, calls, execution, topup].every((part) => part === undefined))
    return await planAlone(services, connected, input);
  const { chain } = connected;
  const { currency, amount, recipient, orderId } = input;
  const { router, approvalProxy } = chain.contracts;
  const boughtSwap = swap && (await swapInBudget(services, chain, { currency, amount }, swap, router));
  if (boughtSwap?.kind === "moved") return fillWait(boughtSwap.why, "SLIPPAGE");
  const spent = boughtSwap
    ? { currency: boughtSwap.paidFrom, amount: boughtSwap.limit }
    : { currency, amount };
  const solver = services.signer.address;
  const routing = await canRoute(connected, solver, spent.currency, spent.amount);
  if (routing === "insufficientFunds") return fillWait(INSUFFICIENT_INVENTORY);
  if (routing === "notApproved") return { ...fillWait(NOT_APPROVED), isNotApproved: true };

  const fees = feesOf(connected, execution);
  if (fees === undefined)
    return fillWait("gas costs more than was reserved for the calls", "QUOTED_GAS_LIMIT_EXCEEDED");
  const routed = { payment: { currency, amount, recipient, orderId }, solver, router, approvalProxy };
  const fill = routedFill(routed, parts, boughtSwap);
  const simulated = await simulateRouted(services, connected, routed, fill, { fees, spent });
  switch (simulated.kind) {
    case "reverts": {
      const { failure } = simulated;
      const reason = `${failure.label}: ${failure.message}`;
      const result =
        fill.comesFromPools?.(failure) === true
          ? fillWait(`the fill would revert: ${failure.message}`, "SLIPPAGE")
          : fillRefusal(fill.rejectReason, reason);
      return { ...result, tried: { reason, failure, call: fill.call } };
    }
    case "forbidden": {
      const reason = simulated.message;
      return {
        ...fillRefusal(fill.rejectReason, reason),
        tried: { reason, failure: undefined, call: fill.call },
      };
    }
    case "insufficientFunds":
      return fillWait(NO_FUNDS);
    case "unseen":
      return fillWait(fill.whyUntraceable, "SOLVER_CAPACITY_EXCEEDED");
    case "ok":
      break;
    default:
      return unreachable(simulated);
  }
  const { gas } = simulated.outcome;
  const maxGas = input.maxGas + (boughtSwap?.gas ?? 0n) * MAX_SWAP_GAS_FACTOR;
  if (gas > maxGas) return refuseExcessiveGas(excessiveGas(input.leg, gas));
  const withMargin = withHeadroom(gas);
  return {
    kind: "ready",
    gas,
    leftOutput: fill.leftOutput?.(logsOf(simulated)) ?? 0n,
    plan: {
      chainId: chain.id,
      sender: solver,
      leg: input.leg,
      call: fill.call,
      gasLimit: fill.capsGasLimit ? lesser(withMargin, maxGas) : withMargin,
      ...fees,
      // Calls may carry native tokens besides a native payment.
      outflow: spent.currency === NATIVE_CURRENCY ? { ...spent, amount: fill.call.value } : spent,
      cancelAfterMs: input.cancelAfterMs,
    },
  };
}

const INSUFFICIENT_INVENTORY = "the solver's inventory does not cover the fill";
const NOT_APPROVED = "the solver has not approved the approval proxy to spend enough of the token";
const NO_FUNDS = "the solver lacks the funds for the fill";

/** Combines the parts into one transaction. */
function routedFill(
  routed: RoutedPayment,
  { calls, execution, topup }: FillParts,
  boughtSwap: SwapForFill | undefined,
): RoutedFill {
  if (calls !== undefined) return giveToCalls(routed, calls, boughtSwap);
  if (execution !== undefined) return payAndCall(routed, execution);
  if (boughtSwap !== undefined) return buyAndPay(routed, boughtSwap, topup);
  const call = nativeTransferCall(routed.router, routed.payment.recipient, topup ?? 0n);
  const topupCalls = { calls: [call], authorizationList: undefined };
  return payAndCall(routed, topupCalls, "DESTINATION_TOKEN_TRANSFER_REJECTED");
}

/** Undefined: gas costs more than was reserved for the calls. */
function feesOf({ pulse }: ConnectedChain, execution: DestinationExecution | undefined): FeeCaps | undefined {
  const { baseFeePerGas, maxFeePerGas, maxPriorityFeePerGas } = pulse.gasPrices();
  if (execution === undefined) return { maxFeePerGas, maxPriorityFeePerGas };
  const cap = execution.maxFeePerGas;
  // Below the current base fee it would only block the lane; above the cap it would cost more than was
  // reserved.
  if (baseFeePerGas + maxPriorityFeePerGas > cap) return undefined;
  return { maxFeePerGas: lesser(maxFeePerGas, cap), maxPriorityFeePerGas: lesser(maxPriorityFeePerGas, cap) };
}

async function planAlone(
  services: OwnKeys,
  connected: ConnectedChain,
  input: PaymentOfOrder,
): Promise<TransactionPlanResult> {
  const planned = await planPayment(services, connected, input);
  if (planned.kind === "ready") return { ...planned, leftOutput: 0n };
  if (planned.kind === "insufficientFunds") return fillWait(planned.why);
  if (planned.kind === "tooExpensive") return refuseExcessiveGas(planned);
  return fillRefusal("DESTINATION_TOKEN_TRANSFER_REJECTED", planned.why);
}

function refuseExcessiveGas({ why, gas }: ReturnType<typeof excessiveGas>): TransactionPlanResult {
  return { ...fillRefusal("QUOTED_GAS_LIMIT_EXCEEDED", why), excessiveGas: gas };
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b);
