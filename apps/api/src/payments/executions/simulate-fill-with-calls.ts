import {
  depositsForOrder,
  fillWithCalls,
  keepsPayment,
  losesPayment,
  withoutOwnMovements,
} from "@causeway/chains";
import type { FeeCaps, Payment, TraceOptions } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { LaneCall } from "../../db/leg.port.ts";
import { GAS_HEADROOM_BPS } from "./price-execution.ts";
import type { DestinationCalls } from "./read-execution.ts";
import { simulateExecution } from "./simulate-execution.ts";
import type { SimulatedExecution } from "./simulate-execution.ts";

/** A simulated fill with its calls. */
export type SimulatedFill = { readonly call: LaneCall; readonly simulated: SimulatedExecution };

/**
 * A third of a 30-million-gas block, enough for sponsored calls. With headroom it stays below the cap per
 * transaction.
 */
const MAX_GAS = 10_000_000n;

/**
 * Simulates a fill with its calls on the latest state. A call that takes the payment from the recipient is
 * forbidden: the payment could not be proven.
 * @throws RpcFault
 */
export async function simulateFillWithCalls(
  { chain, connection }: Pick<ConnectedChain, "chain" | "connection">,
  {
    payment,
    destinationCalls,
    solver,
    ours,
    fees,
  }: {
    readonly payment: Payment;
    readonly destinationCalls: DestinationCalls;
    readonly solver: Address;
    readonly ours: readonly Address[];
    readonly fees: FeeCaps;
  },
  options: TraceOptions = {},
): Promise<SimulatedFill> {
  const { router, approvalProxy } = chain.contracts;
  const fill = { payment, calls: destinationCalls.calls, solver, router, approvalProxy };
  const call: LaneCall = { ...fillWithCalls(fill), authorizationList: destinationCalls.authorizationList };
  // Oracles refuse such a fill unless the order's own signer sends it, and that may be a former key.
  if (destinationCalls.calls.some(({ data }) => depositsForOrder(data, payment.orderId))) {
    const message = "a call makes a deposit with the order id of this request; use another deposit id";
    return { call, simulated: { kind: "forbidden", message } };
  }
  const withoutOwn = (logs: Parameters<typeof withoutOwnMovements>[0]) => withoutOwnMovements(logs, fill);
  const simulated = await simulateExecution(
    { connection },
    { from: solver, call, fees, ours, withoutOwn },
    { ...options, maxGas: MAX_GAS, roomBps: GAS_HEADROOM_BPS },
  );
  if (keeps(simulated, payment, chain.contracts)) return { call, simulated };
  const message = "the calls would take the payment from the recipient, so oracles could not attest it";
  return { call, simulated: { kind: "forbidden", message } };
}

/**
 * The router checks the balance in the block as well; whether the token's events show the payment is only
 * visible in the logs.
 */
function keeps(
  simulated: SimulatedExecution,
  payment: Payment,
  { router }: ConnectedChain["chain"]["contracts"],
): boolean {
  if (simulated.kind === "reverts") return !losesPayment(simulated.failure, router);
  if (simulated.kind !== "ok" || simulated.outcome.effects.kind !== "seen") return true;
  return keepsPayment(simulated.outcome.effects.logs, payment, router);
}

/**
 * Whether the solver can pay this amount in a transaction with calls: it must hold the tokens and have
 * approved them to the proxy.
 * @throws RpcFault; ServiceError RPC_HTTP_ERROR if no fresh balance is known
 */
export async function canPayWithCalls(
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
