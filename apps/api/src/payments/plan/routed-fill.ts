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
export type BoughtFor = NonNullable<FillThroughCalls["swap"]>;

/** The calls of a quote, and the output they must leave. */
export type CallsOfFill = Pick<OutputCalls, "calls" | "authorizationList"> & {
  /** Undefined: the recipient gets no payment of their own. */
  readonly minLeft: bigint | undefined;
};

/** A fill through the router, and how its simulation is judged. */
export interface RoutedFill {
  readonly call: LaneCall;
  /** Why it must not be made, whatever it does. */
  readonly forbidden?: string | undefined;
  /** How it is refused for its effects. */
  readonly rejection: FailReason;
  /** The reason if its calls take the recipient's payment. Absent: the reason is the failure itself. */
  readonly loss?: string;
  /** Why oracles could not attest the payment; undefined: they can. Only events are attested. */
  unattested(logs: readonly FrameLog[]): string | undefined;
  /** Whether a failure comes from pools that may have moved. Absent: none does. */
  movesPools?(failure: SimulationFailure): boolean;
  readonly trace: TraceOptions;
  readonly untraceable: string;
  /** Whether the gas limit must not exceed the maximum that was paid for. */
  readonly capsGasLimit: boolean;
  /** The output that its calls leave for the recipient. Absent: they get none of the output. */
  left?(logs: readonly FrameLog[]): bigint;
}

/**
 * A third of a 30-million-gas block, enough for calls of others. With headroom it stays below the cap per
 * transaction.
 */
export const TRACE_OF_CALLS: TraceOptions = { maxGas: 10_000_000n, roomBps: GAS_HEADROOM_BPS };

/**
 * Simulates a fill through the router on the latest state. One whose payment could not be proven is
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
  if (fill.forbidden !== undefined) return forbid(fill.forbidden);
  const pull = { payment: { ...payment, ...spent }, ...accounts };
  const simulated = await simulateExecution(
    connected,
    {
      from: accounts.solver,
      call: fill.call,
      fees,
      ours: ownAccounts(services),
      withoutOwn: (logs) => withoutPaymentMovements(logs, pull),
    },
    { ...fill.trace, ...(signal && { signal }) },
  );
  const { loss } = fill;
  if (simulated.kind === "reverts" && loss !== undefined && losesPayment(simulated.failure, accounts.router))
    return forbid(loss);
  const unattested = simulated.kind === "ok" ? fill.unattested(logsOf(simulated)) : undefined;
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
): Promise<"yes" | "short" | "notApproved"> {
  if (pulse.solverBalance(currency).amount < amount) return "short";
  if (currency === NATIVE_CURRENCY) return "yes";
  const { allowance } = await connection.reader.accountState(solver, currency, chain.contracts.approvalProxy);
  return allowance < amount ? "notApproved" : "yes";
}
