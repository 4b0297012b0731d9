import type { CallPlan } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { ConnectedChain } from "../ports/chains.ts";
import type { DestinationExecution } from "../ports/executions.ts";
import type { Services } from "../ports/services.ts";
import { withHeadroom } from "./execution/price-execution.ts";
import { canPayWithCalls, simulateFillWithCalls } from "./execution/simulate-fill-with-calls.ts";
import type { PaymentPlan, PaymentQuestion } from "./payment-plan.ts";

/** `short`: it may pass by waiting. `callsFail`: the calls, or what they do, stand in the way. */
export type FillWithCallsPlan =
  | Extract<PaymentPlan, { kind: "ready" | "tooDear" }>
  | { readonly kind: "short"; readonly why: string }
  | { readonly kind: "callsFail"; readonly reason: string };

/**
 * Plans the payment of a recipient together with the calls that an app has sponsored beside it, simulated on the newest state.
 * @throws RpcFault, ServiceError RPC_HTTP_ERROR
 */
export async function planFillWithCalls(
  services: Pick<Services, "signer" | "executor">,
  connected: ConnectedChain,
  question: PaymentQuestion,
  beside: DestinationExecution,
): Promise<FillWithCallsPlan> {
  const { chain, pulse } = connected;
  const { currency, amount, recipient, orderId } = question;
  const solver = services.signer.address;
  const able = await canPayWithCalls(connected, solver, currency, amount);
  if (able === "short") return { kind: "short", why: "the solver's inventory does not bear the fill" };
  if (able === "notApproved")
    return { kind: "short", why: "the solver has not approved the token to the approval proxy" };

  const { maxFeePerGas, maxPriorityFeePerGas } = pulse.gasPrices();
  const fees = { maxFeePerGas, maxPriorityFeePerGas };
  const ours = services.executor === undefined ? [solver] : [solver, services.executor.address];
  const payment = { currency, amount, recipient, orderId };
  const { call, simulated } = await simulateFillWithCalls(connected, { payment, beside, solver, ours, fees });
  switch (simulated.kind) {
    case "reverts":
      return {
        kind: "callsFail",
        reason: `${simulated.failure.label}: ${simulated.failure.message}`,
      };
    case "forbidden":
      return { kind: "callsFail", reason: simulated.message };
    case "insufficientFunds":
      return { kind: "short", why: "the solver lacks the funds" };
    case "unseen":
      return { kind: "short", why: "the node does not tell what the calls do" };
    case "ok":
      break;
    default:
      return simulated satisfies never;
  }
  const { gas } = simulated.outcome;
  const most = question.maxGas + beside.extraGas;
  if (gas > most) return { kind: "tooDear", gas };
  return {
    kind: "ready",
    plan: {
      chainId: chain.id,
      sender: solver,
      leg: question.leg,
      call,
      gasLimit: withHeadroom(gas),
      ...fees,
      outflow: { currency, amount: currency === NATIVE_CURRENCY ? amount + valueOf(beside.calls) : amount },
      cancelAfterMs: question.cancelAfterMs,
    },
  };
}

/** Native coin that calls carry, wei. */
export function valueOf(calls: readonly CallPlan[]): bigint {
  return calls.reduce((sum, { value }) => sum + value, 0n);
}
