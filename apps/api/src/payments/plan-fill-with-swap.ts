import { fillWithSwap, keepsPayment, losesPayment, withoutOwnMovements } from "@causeway/chains";
import type { FillWithSwap } from "@causeway/chains";
import type { FrameLog, SimulationFailure } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { LaneCall } from "../db/leg.port.ts";
import type { Services } from "../db/services.port.ts";
import { withHeadroom } from "./executions/price-execution.ts";
import { canPayWithCalls } from "./executions/simulate-fill-with-calls.ts";
import { exchangeInBudget, MAX_EXCHANGE_GAS_FACTOR } from "./exchange-in-budget.ts";
import type { FillBudget } from "./exchange-in-budget.ts";
import { ownAccounts, type OwnKeys } from "../chains/index.ts";
import type { PaymentPlan, PaymentQuestion } from "./payment-plan.ts";
import { tryFill, type Short } from "./try-fill.ts";

/**
 * `short` and `moved` are temporary; after `moved` the pools are quoted again. `refused`: the recipient or
 * the token rejects the payment.
 */
export type FillWithSwapPlan =
  | Extract<PaymentPlan, { kind: "ready" | "tooDear" }>
  | Short
  | { readonly kind: "moved"; readonly why: string; readonly tried?: TriedFill }
  | { readonly kind: "refused"; readonly reason: string; readonly tried?: TriedFill };

/** A simulated transaction, and why it cannot be made. */
export interface TriedFill {
  readonly reason: string;
  readonly failure: SimulationFailure | undefined;
  readonly call: LaneCall;
}

/**
 * Plans the payment of a recipient in a currency that the fill buys in a swap, simulated on the latest state.
 * Its spending is limited on chain.
 * @param question.maxGas without the swap, whose gas is added
 * @param topup native tokens for the recipient in addition, in wei
 * @throws RpcFault; ServiceError RPC_HTTP_ERROR, SERVICE_UNAVAILABLE: unknown now; retry
 */
export async function planFillWithSwap(
  services: OwnKeys &
    Pick<Services, "quotePolicy"> & { readonly liquidity?: Services["liquidity"] | undefined },
  connected: ConnectedChain,
  question: PaymentQuestion,
  budget: FillBudget,
  topup?: bigint,
): Promise<FillWithSwapPlan> {
  const { chain, pulse } = connected;
  const { currency, amount, recipient, orderId } = question;
  const { router, approvalProxy } = chain.contracts;
  const payment = { currency, amount, recipient, orderId };
  const exchanged = await exchangeInBudget(services, chain, payment, budget, router);
  if (exchanged.kind === "moved") return exchanged;
  const { paidFrom, limit } = exchanged;
  const solver = services.signer.address;
  const able = await canPayWithCalls(connected, solver, paidFrom, limit);
  if (able === "short") return { kind: "short", why: "the solver's inventory does not cover the fill" };
  if (able === "notApproved")
    return {
      kind: "short",
      why: "the solver has not approved the approval proxy to spend enough of the token",
    };

  const fill: FillWithSwap = {
    payment,
    paidFrom,
    limit,
    wrappedNative: exchanged.wrappedNative,
    exchange: exchanged.exchange,
    topup,
    solver,
    router,
    approvalProxy,
  };
  const call = fillWithSwap(fill);
  const { maxFeePerGas, maxPriorityFeePerGas } = pulse.gasPrices();
  const fees = { maxFeePerGas, maxPriorityFeePerGas };
  const pull = { payment: { ...payment, currency: paidFrom, amount: limit }, solver, router, approvalProxy };
  const tried = await tryFill(connected, {
    from: solver,
    call: { ...call, authorizationList: undefined },
    fees,
    ours: ownAccounts(services),
    withoutOwn: (logs: readonly FrameLog[]) => withoutOwnMovements(logs, pull),
  });
  const refused = (reason: string) =>
    ({ kind: "refused", reason, tried: { reason, failure: undefined, call } }) as const;
  if (tried.kind === "short") return tried;
  if (tried.kind === "fails") {
    const { failure, reason } = tried;
    if (failure === undefined) return refused(reason);
    return isRefusal(failure, fill)
      ? { kind: "refused", reason, tried: { reason, failure, call } }
      : { kind: "moved", why: `the fill would revert: ${failure.message}`, tried: { reason, failure, call } };
  }
  const { gas, logs } = tried;
  // The balance that the router sees may differ from the token's events: only events are attested.
  if (!keepsPayment(logs, payment, router))
    return refused("the token emits no event of the payment, so oracles could not attest it");
  if (gas > question.maxGas + exchanged.gas * MAX_EXCHANGE_GAS_FACTOR) return { kind: "tooDear", gas };
  return {
    kind: "ready",
    plan: {
      chainId: chain.id,
      sender: solver,
      leg: question.leg,
      call,
      gasLimit: withHeadroom(gas),
      ...fees,
      outflow: { currency: paidFrom, amount: limit },
      cancelAfterMs: question.cancelAfterMs,
    },
  };
}

/**
 * Whether the recipient or the token rejects the payment. Any other failure comes from pools that may have
 * moved.
 */
function isRefusal(failure: SimulationFailure, { payment, router }: FillWithSwap): boolean {
  const { address } = failure.details.innermost;
  return losesPayment(failure, router) || address === payment.recipient || address === payment.currency;
}
