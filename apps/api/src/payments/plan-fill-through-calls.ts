import {
  fillThroughCalls,
  keepsPayment,
  leftInFill,
  losesPayment,
  withoutOwnMovements,
} from "@causeway/chains";
import type { FillThroughCalls } from "@causeway/chains";
import type { FrameLog, OutputCalls, SimulationFailure } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { LaneCall } from "../db/leg.port.ts";
import type { Services } from "../db/services.port.ts";
import { GAS_HEADROOM_BPS, withHeadroom } from "./executions/price-execution.ts";
import { canPayWithCalls } from "./executions/simulate-fill-with-calls.ts";
import { exchangeInBudget, MAX_EXCHANGE_GAS_FACTOR } from "./exchange-in-budget.ts";
import type { FillBudget } from "./exchange-in-budget.ts";
import { ownAccounts, type OwnKeys } from "../chains/index.ts";
import type { PaymentPlan, PaymentQuestion } from "./payment-plan.ts";
import { tryFill, type Short } from "./try-fill.ts";

/** Services for planning fills, whether to send or only to simulate them. */
export interface FillPlanServices extends OwnKeys, Pick<Services, "quotePolicy"> {
  readonly liquidity?: Services["liquidity"] | undefined;
}

/** The calls of a fill, and the output it must leave. */
export type CallsOfFill = Pick<OutputCalls, "calls" | "authorizationList"> & {
  /** Undefined: the recipient gets no payment of their own. */
  readonly minLeft: bigint | undefined;
  /** Maximum gas units for everything together; undefined: unlimited. */
  readonly maxGas: bigint | undefined;
};

/**
 * `short` and `moved` are temporary; after `moved` the pools are quoted again. `callsFail`: the calls or
 * their effects prevent the fill; `failure` is undefined if they are not allowed. `notApproved`: the solver's
 * tokens cannot be routed on this chain.
 */
export type FillThroughCallsPlan =
  | (Extract<PaymentPlan, { kind: "ready" }> & {
      /** Gas units that the simulation used. */
      readonly gas: bigint;
      /** The output currency left for the recipient. */
      readonly left: bigint;
    })
  | Extract<PaymentPlan, { kind: "tooDear" }>
  | Short
  | { readonly kind: "moved"; readonly why: string }
  | { readonly kind: "notApproved"; readonly why: string }
  | {
      readonly kind: "callsFail";
      readonly reason: string;
      readonly failure: SimulationFailure | undefined;
      /** The simulated transaction. */
      readonly call: LaneCall;
    };

/** A third of a 30-million-gas block, as for sponsored calls. */
const MAX_GAS = 10_000_000n;

/**
 * Plans a fill that gives the whole output to calls, simulated on the latest state. All of its effects are
 * judged, and its spending is limited on chain.
 * @throws RpcFault; ServiceError RPC_HTTP_ERROR, SERVICE_UNAVAILABLE: unknown now; retry
 */
export async function planFillThroughCalls(
  services: FillPlanServices,
  connected: ConnectedChain,
  question: Omit<PaymentQuestion, "toContract" | "maxGas">,
  { calls, authorizationList, minLeft, maxGas }: CallsOfFill,
  budget: FillBudget | undefined,
): Promise<FillThroughCallsPlan> {
  const { chain, pulse } = connected;
  const { currency, amount, recipient, orderId } = question;
  const { router, approvalProxy } = chain.contracts;
  const solver = services.signer.address;
  const exchanged = budget && (await exchangeInBudget(services, chain, { currency, amount }, budget, router));
  if (exchanged?.kind === "moved") return exchanged;
  const spent = exchanged?.paidFrom ?? currency;
  const maxSpent = exchanged?.limit ?? amount;
  const able = await canPayWithCalls(connected, solver, spent, maxSpent);
  if (able === "short") return { kind: "short", why: "the solver's inventory does not cover the fill" };
  if (able === "notApproved")
    return {
      kind: "notApproved",
      why: "the solver has not approved the approval proxy to spend enough of the token",
    };

  const payment = { currency, amount, recipient, orderId };
  const fill: FillThroughCalls = {
    payment,
    calls,
    minLeft,
    ...(exchanged && { exchanged }),
    solver,
    router,
    approvalProxy,
  };
  const call: LaneCall = { ...fillThroughCalls(fill), authorizationList };
  const { maxFeePerGas, maxPriorityFeePerGas } = pulse.gasPrices();
  const fees = { maxFeePerGas, maxPriorityFeePerGas };
  const pull = { payment: { ...payment, currency: spent, amount: maxSpent }, solver, router, approvalProxy };
  const tried = await tryFill(
    connected,
    {
      from: solver,
      call,
      fees,
      ours: ownAccounts(services),
      withoutOwn: (logs: readonly FrameLog[]) => withoutOwnMovements(logs, pull),
    },
    { maxGas: MAX_GAS, roomBps: GAS_HEADROOM_BPS },
  );
  const fails = (reason: string, failure?: SimulationFailure): FillThroughCallsPlan => ({
    kind: "callsFail",
    reason,
    failure,
    call,
  });
  if (tried.kind === "short") return tried;
  if (tried.kind === "fails") {
    const { failure, reason } = tried;
    if (failure !== undefined && losesPayment(failure, router))
      return fails("the calls take the remaining output from the recipient");
    return fails(reason, failure);
  }
  const { gas, logs } = tried;
  const left = minLeft === undefined ? 0n : leftInFill(logs, fill);
  // The balance that the router sees may differ from the token's events: only events are attested.
  const keeps = minLeft === undefined || minLeft === 0n ? left : minLeft;
  if (keeps > 0n && !keepsPayment(logs, { ...payment, amount: keeps }, router))
    return fails(
      "the calls take the remaining output from the recipient, so oracles could not attest the payment",
    );
  const bound = maxGas && maxGas + (exchanged?.gas ?? 0n) * MAX_EXCHANGE_GAS_FACTOR;
  if (bound !== undefined && gas > bound) return { kind: "tooDear", gas };
  const roomy = withHeadroom(gas);
  return {
    kind: "ready",
    gas,
    left,
    plan: {
      chainId: chain.id,
      sender: solver,
      leg: question.leg,
      call,
      gasLimit: bound !== undefined && bound < roomy ? bound : roomy,
      ...fees,
      outflow: { currency: spent, amount: maxSpent },
      cancelAfterMs: question.cancelAfterMs,
    },
  };
}

/** Maximum gas units of a fill with these calls, without its swap: the output pays for this much. */
export function maxGasOfCalls(
  { quotePolicy }: Pick<Services, "quotePolicy">,
  { gas }: Pick<OutputCalls, "gas">,
): bigint {
  return quotePolicy.gas.swapFill + gas;
}

/** The output that a fill must leave: undefined if none was expected. */
export function minLeftOf({ left }: Pick<OutputCalls, "left">): bigint | undefined {
  return left.expected === 0n && left.minimum === 0n ? undefined : left.minimum;
}
