import { paymentCall } from "@causeway/chains";
import type { CallPlan } from "@causeway/chains";
import { NATIVE_CURRENCY, usdToAmountDown } from "@causeway/domain";
import type { Address, OrderId, PricedUnit, TxHash } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Leg } from "../db/leg.port.ts";
import type { SlotPlan } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { LaneWrites } from "../db/unit-of-work.port.ts";
import { withHeadroom } from "./executions/price-execution.ts";

/** What is to be paid by the solver, on one chain. */
export interface PaymentQuestion {
  readonly leg: Leg;
  readonly currency: Address;
  readonly amount: bigint;
  readonly recipient: Address;
  /**
   * Ends the transaction's input: the order's id, or for the refund of a deposit of no request the hash of
   * the depositing transaction.
   */
  readonly orderId: OrderId | TxHash;
  readonly cancelAfterMs: number;
  /** The recipient is a contract: native goes through the router. */
  readonly toContract: boolean;
  /** Gas units beyond which the payment is not made; see `gasAllowance`. */
  readonly maxGas: bigint;
}

export type PaymentPlan =
  | { readonly kind: "ready"; readonly plan: SlotPlan }
  /** The chain itself says that this payment reverts. */
  | { readonly kind: "reverts"; readonly reason: string }
  /**
   * It would burn far more gas than anybody has paid for: a recipient's code must not spend the solver's
   * coin.
   */
  | { readonly kind: "tooDear"; readonly gas: bigint }
  | { readonly kind: "insufficientFunds" };

/** A payment may need so many times the gas it was priced with: tokens and wallets differ. */
const MAX_GAS_FACTOR = 3n;

/**
 * Gas units that one payment may use: some times what it was priced with, and what the flat fee buys on top.
 * Where gas is cheap (and a rollup counts its data as gas) that is plenty; where it is dear, a recipient's
 * code cannot burn the solver's coin.
 */
export function gasAllowance(
  { chain, pulse }: Pick<ConnectedChain, "chain" | "pulse">,
  pricedGas: bigint,
  native: PricedUnit,
): bigint {
  const { baseFeePerGas, maxPriorityFeePerGas } = pulse.gasPrices();
  const price = baseFeePerGas + maxPriorityFeePerGas;
  const flatWei = usdToAmountDown(chain.fees.flatUsd, native);
  return pricedGas * MAX_GAS_FACTOR + (price === 0n ? 0n : flatWei / price);
}

/** Whether this payment is one of native coin to a contract. @throws RpcFault */
export async function isNativeToContract(
  { connection }: Pick<ConnectedChain, "connection">,
  currency: Address,
  recipient: Address,
): Promise<boolean> {
  return currency === NATIVE_CURRENCY && (await connection.reader.hasCode(recipient));
}

/**
 * Plans one payment, simulated on the newest state.
 * @throws RpcFault when the node does not answer: the chain has said nothing then.
 */
export async function planPayment(
  services: Pick<Services, "signer">,
  { chain, connection, pulse }: ConnectedChain,
  question: PaymentQuestion,
): Promise<PaymentPlan> {
  const sender = services.signer.address;
  const call: CallPlan = paymentCall(question, question.toContract, chain.contracts.router);
  const prices = pulse.gasPrices();
  // With its price, as it will be sent: a recipient could tell an unpriced simulation from the payment.
  const outcome = await connection.reader.simulate(sender, call, prices);
  if (outcome.kind === "reverts") return { kind: "reverts", reason: outcome.reason };
  if (outcome.kind === "insufficientFunds") return { kind: "insufficientFunds" };
  if (outcome.gas > question.maxGas) return { kind: "tooDear", gas: outcome.gas };
  const { maxFeePerGas, maxPriorityFeePerGas } = prices;
  return {
    kind: "ready",
    plan: {
      chainId: chain.id,
      sender,
      leg: question.leg,
      call,
      gasLimit: withHeadroom(outcome.gas),
      maxFeePerGas,
      maxPriorityFeePerGas,
      outflow: { currency: question.currency, amount: question.amount },
      cancelAfterMs: question.cancelAfterMs,
    },
  };
}

/**
 * Whether the solver's balances bear this payment and its gas beside everything that balances of that block
 * do not show yet. Call with the lane locked: only then can no other payment slip in between. A payment
 * without gas behind it would hold up its whole lane.
 */
export async function inventoryCovers(
  tx: { readonly lanes: Pick<LaneWrites, "reserved"> },
  { chain, pulse }: ConnectedChain,
  plan: SlotPlan,
): Promise<boolean> {
  const { currency, amount } = plan.outflow;
  const native = pulse.solverBalance(NATIVE_CURRENCY);
  // A payment in a token may carry coin for the calls beside it.
  const carried = currency === NATIVE_CURRENCY ? 0n : plan.call.value;
  const reserved = await tx.lanes.reserved(chain.id, plan.sender, NATIVE_CURRENCY, native.blockNumber);
  const gasWei = reserved.gasWei + plan.gasLimit * plan.maxFeePerGas + carried;
  if (currency === NATIVE_CURRENCY) return native.amount >= reserved.amount + gasWei + amount;
  if (native.amount < reserved.amount + gasWei) return false;
  const held = pulse.solverBalance(currency);
  const tokens = await tx.lanes.reserved(chain.id, plan.sender, currency, held.blockNumber);
  return held.amount >= tokens.amount + amount;
}
