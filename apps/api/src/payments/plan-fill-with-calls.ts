import type { CallPlan, FeeCaps } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { DestinationExecution } from "./executions.port.ts";
import { withHeadroom } from "./executions/price-execution.ts";
import { canPayWithCalls, simulateFillWithCalls } from "./executions/simulate-fill-with-calls.ts";
import { ownAccounts, type OwnKeys } from "../chains/index.ts";
import type { PaymentPlan, PaymentQuestion } from "./payment-plan.ts";
import type { Short } from "./try-fill.ts";

/**
 * `short` and `dear` are temporary: funds or gas prices. `callsFail`: the calls or their effects prevent the
 * fill.
 */
export type FillWithCallsPlan =
  | Extract<PaymentPlan, { kind: "ready" | "tooDear" }>
  | Short
  | { readonly kind: "dear"; readonly why: string }
  | { readonly kind: "callsFail"; readonly reason: string };

/**
 * Plans the payment of a recipient together with sponsored calls, simulated on the latest state.
 * @throws RpcFault, ServiceError RPC_HTTP_ERROR
 */
export async function planFillWithCalls(
  services: OwnKeys,
  connected: ConnectedChain,
  question: PaymentQuestion,
  destinationCalls: DestinationExecution,
): Promise<FillWithCallsPlan> {
  const { chain, pulse } = connected;
  const { currency, amount, recipient, orderId } = question;
  const solver = services.signer.address;
  const able = await canPayWithCalls(connected, solver, currency, amount);
  if (able === "short") return { kind: "short", why: "the solver's inventory does not cover the fill" };
  if (able === "notApproved")
    return {
      kind: "short",
      why: "the solver has not approved the approval proxy to spend enough of the token",
    };

  const prices = pulse.gasPrices();
  // Below the current base fee it would only block the lane; above the cap it would cost more than was
  // reserved.
  if (prices.baseFeePerGas + prices.maxPriorityFeePerGas > destinationCalls.maxFeePerGas)
    return { kind: "dear", why: "gas costs more than was reserved for the calls" };
  const fees = cappedBy(prices, destinationCalls.maxFeePerGas);
  const ours = ownAccounts(services);
  const payment = { currency, amount, recipient, orderId };
  const { call, simulated } = await simulateFillWithCalls(connected, {
    payment,
    destinationCalls,
    solver,
    ours,
    fees,
  });
  switch (simulated.kind) {
    case "reverts":
      return {
        kind: "callsFail",
        reason: `${simulated.failure.label}: ${simulated.failure.message}`,
      };
    case "forbidden":
      return { kind: "callsFail", reason: simulated.message };
    case "insufficientFunds":
      return { kind: "short", why: "the solver lacks the funds for the fill" };
    case "unseen":
      return {
        kind: "short",
        why: "the node cannot trace the calls",
        reason: "SOLVER_CAPACITY_EXCEEDED",
      };
    case "ok":
      break;
    default:
      return simulated satisfies never;
  }
  const { gas } = simulated.outcome;
  const maxGas = maxGasOf(destinationCalls);
  if (gas > maxGas) return { kind: "tooDear", gas };
  return {
    kind: "ready",
    plan: {
      chainId: chain.id,
      sender: solver,
      leg: question.leg,
      call,
      gasLimit: lesser(withHeadroom(gas), maxGas),
      ...fees,
      outflow: {
        currency,
        amount: currency === NATIVE_CURRENCY ? amount + valueOf(destinationCalls.calls) : amount,
      },
      cancelAfterMs: question.cancelAfterMs,
    },
  };
}

/** Maximum gas units of a fill with these calls: the sponsor's reservation and the quote cover this much. */
export function maxGasOf({ plainGas, extraGas }: DestinationExecution): bigint {
  return plainGas + extraGas;
}

function cappedBy({ maxFeePerGas, maxPriorityFeePerGas }: FeeCaps, capWei: bigint): FeeCaps {
  return {
    maxFeePerGas: lesser(maxFeePerGas, capWei),
    maxPriorityFeePerGas: lesser(maxPriorityFeePerGas, capWei),
  };
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Native tokens that calls carry, in wei. */
export function valueOf(calls: readonly CallPlan[]): bigint {
  return calls.reduce((sum, { value }) => sum + value, 0n);
}
