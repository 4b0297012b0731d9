import { losesPayment, withoutPaymentMovements } from "@causeway/chains";
import type { FeeCaps, FillThroughCalls, Payment, TraceOptions } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, FailReason, FrameLog, OutputCalls, SimulationFailure } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import { ownAccounts, type OwnKeys } from "../../chains/index.ts";
import type { LaneCall } from "../../db/leg.port.ts";
import { GAS_HEADROOM_BPS } from "../executions/price-execution.ts";
import { simulateExecution } from "../executions/simulate-execution.ts";
import type { SimulatedExecution } from "../executions/simulate-execution.ts";

/** The common fields of every fill through the router. */
export interface RoutedPayment {
  readonly payment: Payment;
  readonly solver: Address;
  readonly router: Address;
  readonly approvalProxy: Address;
}

/** A swap that buys the payment. */
export type SwapForFill = NonNullable<FillThroughCalls["swap"]>;

/** The calls of a quote, and the output they must leave. */
export type CallsOfFill = Pick<OutputCalls, "calls" | "authorizationList"> & {
  /** Undefined: the recipient gets no payment of their own. */
  readonly minLeft: bigint | undefined;
};

/** A fill through the router, and how its simulation is judged. */
export interface RoutedFill {
  readonly call: LaneCall;
  /** Why the fill must not be made, whatever its simulation shows. */
  readonly whyForbidden?: string | undefined;
  /** The reason if the fill is refused for its effects. */
  readonly rejectReason: FailReason;
  /** The reason if its calls take the recipient's payment. Absent: the reason is the failure itself. */
  readonly lossReason?: string;
  /** Why oracles could not attest the payment; undefined: they can. Only events are attested. */
  whyUnattested(logs: readonly FrameLog[]): string | undefined;
  /** Whether a failure comes from pools that may have moved. Absent: none does. */
  comesFromPools?(failure: SimulationFailure): boolean;
  readonly trace: TraceOptions;
  readonly whyUntraceable: string;
  /** Whether the gas limit must not exceed the maximum that was paid for. */
  readonly capsGasLimit: boolean;
  /** The output that its calls leave for the recipient. Absent: they get none of the output. */
  leftOutput?(logs: readonly FrameLog[]): bigint;
}

/**
 * A third of a 30-million-gas block, enough for users' calls. With headroom it stays below the cap per
 * transaction.
 */
export const TRACE_OF_CALLS: TraceOptions = { maxGas: 10_000_000n, roomBps: GAS_HEADROOM_BPS };

/**
 * Simulates a fill through the router on the latest state. A fill whose payment could not be proven is
 * forbidden.
 * @param spent the amount that the router takes from the solver
 * @throws RpcFault if the node did not answer
 */
export async function simulateRouted(
  services: OwnKeys,
  connected: Pick<ConnectedChain, "connection">,
  { payment, ...accounts }: RoutedPayment,
  fill: RoutedFill,
  {
    fees,
    spent = payment,
    signal,
  }: {
    readonly fees: FeeCaps;
    readonly spent?: Pick<Payment, "currency" | "amount">;
    readonly signal?: AbortSignal;
  },
): Promise<SimulatedExecution> {
  const forbid = (message: string) => ({ kind: "forbidden", message }) as const;
  if (fill.whyForbidden !== undefined) return forbid(fill.whyForbidden);
  const spending = { payment: { ...payment, ...spent }, ...accounts };
  const simulated = await simulateExecution(
    connected,
    {
      from: accounts.solver,
      call: fill.call,
      fees,
      ours: ownAccounts(services),
      removeExpectedLogs: (logs) => withoutPaymentMovements(logs, spending),
    },
    { ...fill.trace, ...(signal && { signal }) },
  );
  const { lossReason } = fill;
  if (
    simulated.kind === "reverts" &&
    lossReason !== undefined &&
    losesPayment(simulated.failure, accounts.router)
  )
    return forbid(lossReason);
  const unattested = simulated.kind === "ok" ? fill.whyUnattested(logsOf(simulated)) : undefined;
  return unattested === undefined ? simulated : forbid(unattested);
}

/** The events of a simulated fill. */
export function logsOf({ outcome }: Extract<SimulatedExecution, { kind: "ok" }>): readonly FrameLog[] {
  return outcome.effects.kind === "seen" ? outcome.effects.logs : [];
}

/**
 * Whether the solver can pay this amount through the router: it must hold the tokens and have approved them
 * to the proxy.
 * @throws RpcFault; ServiceError RPC_HTTP_ERROR if no fresh balance is known
 */
export async function canRoute(
  { chain, connection, pulse }: ConnectedChain,
  solver: Address,
  currency: Address,
  amount: bigint,
): Promise<"yes" | "insufficientFunds" | "notApproved"> {
  if (pulse.solverBalance(currency).amount < amount) return "insufficientFunds";
  if (currency === NATIVE_CURRENCY) return "yes";
  const { allowance } = await connection.reader.accountState(solver, currency, chain.contracts.approvalProxy);
  return allowance < amount ? "notApproved" : "yes";
}
