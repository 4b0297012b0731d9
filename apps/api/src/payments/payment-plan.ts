import { paymentCall } from "@causeway/chains";
import type { CallPlan } from "@causeway/chains";
import { NATIVE_CURRENCY, usdToAmountDown } from "@causeway/domain";
import type { Address, OrderId, PricedUnit, TxHash } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { OwnKeys } from "../chains/index.ts";
import type { Leg } from "../db/leg.port.ts";
import type { SlotPlan } from "../db/records.port.ts";
import { withHeadroom } from "./executions/price-execution.ts";

/** A payment for the solver to plan, on one chain. */
export interface PaymentQuestion {
  readonly leg: Leg;
  readonly currency: Address;
  readonly amount: bigint;
  readonly recipient: Address;
  /**
   * Ends the transaction's input: the order id, or for the refund of an unattributed deposit the hash of its
   * transaction.
   */
  readonly orderId: OrderId | TxHash;
  readonly cancelAfterMs: number;
  /** The recipient is a contract: native tokens go through the router. */
  readonly toContract: boolean;
  /** Maximum gas units of the payment; see `gasAllowance`. */
  readonly maxGas: bigint;
}

export type PaymentPlan =
  | {
      readonly kind: "ready";
      /** Gas units that the simulation used. */
      readonly gas: bigint;
      readonly plan: SlotPlan;
    }
  /** The chain itself reports that this payment reverts. */
  | { readonly kind: "reverts"; readonly reason: string }
  /**
   * It would use far more gas than was paid for: a recipient's code must not spend the solver's native
   * tokens.
   */
  | { readonly kind: "tooDear"; readonly gas: bigint }
  | { readonly kind: "insufficientFunds" };

/** A payment may need this multiple of its priced gas: tokens and wallets differ. */
const MAX_GAS_FACTOR = 3n;

/**
 * Gas units that one payment may use: a multiple of the priced gas, and what the flat fee buys in addition.
 * That is plenty where gas is cheap; where it is expensive, a recipient's code cannot waste the solver's
 * native tokens.
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

/** Whether this is a native payment to a contract. @throws RpcFault */
export async function isNativeToContract(
  { connection }: Pick<ConnectedChain, "connection">,
  currency: Address,
  recipient: Address,
): Promise<boolean> {
  return currency === NATIVE_CURRENCY && (await connection.reader.hasCode(recipient));
}

/** Plans one payment, simulated on the latest state. @throws RpcFault if the node does not answer */
export async function planPayment(
  services: Pick<OwnKeys, "signer">,
  { chain, connection, pulse }: ConnectedChain,
  question: PaymentQuestion,
): Promise<PaymentPlan> {
  const sender = services.signer.address;
  const call: CallPlan = paymentCall(question, question.toContract, chain.contracts.router);
  const prices = pulse.gasPrices();
  // Simulated with its gas price, as it will be sent: a recipient could detect a simulation without one.
  const outcome = await connection.reader.simulate(sender, call, prices);
  if (outcome.kind === "reverts") return { kind: "reverts", reason: outcome.reason };
  if (outcome.kind === "insufficientFunds") return { kind: "insufficientFunds" };
  if (outcome.gas > question.maxGas) return { kind: "tooDear", gas: outcome.gas };
  const { maxFeePerGas, maxPriorityFeePerGas } = prices;
  return {
    kind: "ready",
    gas: outcome.gas,
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
