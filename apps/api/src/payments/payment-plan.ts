import { paymentCall, transferCall } from "@causeway/chains";
import { NATIVE_CURRENCY, usdToAmountDown } from "@causeway/domain";
import type { Address, OrderId, PricedUnit, TxHash } from "@causeway/domain";
import type { ConnectedChain, TransferChain } from "../chains/chains.port.ts";
import type { OwnKeys } from "../chains/index.ts";
import type { Leg } from "../db/leg.port.ts";
import type { SlotPlan } from "../db/records.port.ts";
import { withHeadroom } from "./executions/price-execution.ts";

/** A payment for the solver to plan, on one chain. */
export interface TransferInput {
  readonly leg: Leg;
  readonly currency: Address;
  readonly amount: bigint;
  readonly recipient: Address;
  /**
   * Ends the transaction's input: the order id, or for the refund of an unattributed deposit the hash of its
   * transaction. Undefined: it belongs to no order.
   */
  readonly orderId: OrderId | TxHash | undefined;
  readonly cancelAfterMs: number;
}

export interface PaymentInput extends TransferInput {
  /** Native tokens go to a contract, through the router. */
  readonly toContract: boolean;
  /** Maximum gas units of the payment; see `gasAllowance`. Absent: the caller compares the plan's gas. */
  readonly maxGas?: bigint;
}

export interface PaymentOfOrder extends PaymentInput {
  readonly orderId: OrderId;
  readonly maxGas: bigint;
}

export type PaymentPlan =
  | {
      readonly kind: "ready";
      /** Gas units that the simulation used. */
      readonly gas: bigint;
      readonly plan: SlotPlan;
    }
  /** The solver cannot make the payment now. */
  | { readonly kind: "insufficientFunds"; readonly why: string }
  /** The chain itself reports that this payment reverts. */
  | { readonly kind: "refused"; readonly why: string }
  /**
   * The payment would use far more gas than was paid for: a recipient's code must not spend the solver's
   * native tokens.
   */
  | { readonly kind: "tooExpensive"; readonly why: string; readonly gas: bigint };

/** A payment may need this multiple of its priced gas: tokens and wallets differ. */
const MAX_GAS_FACTOR = 3n;

/**
 * Gas units that one payment may use: a multiple of the priced gas, plus the gas that the flat fee buys.
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
  input: PaymentInput,
): Promise<PaymentPlan> {
  const { leg, currency, amount, recipient, orderId, toContract, maxGas, cancelAfterMs } = input;
  const sender = services.signer.address;
  const call =
    orderId === undefined
      ? transferCall(currency, recipient, amount)
      : paymentCall({ currency, amount, recipient, orderId }, toContract, chain.contracts.router);
  const prices = pulse.gasPrices();
  // Simulated with its gas price, as it will be sent: a recipient could detect a simulation without one.
  const outcome = await connection.reader.simulate(sender, call, prices);
  if (outcome.kind === "insufficientFunds")
    return { kind: "insufficientFunds", why: `the solver lacks the funds for the ${leg.kind}` };
  // A token reverts both for a low balance and for a refused recipient: only the first is temporary.
  if (outcome.kind === "reverts")
    return pulse.solverBalance(currency).amount < amount
      ? { kind: "insufficientFunds", why: `the solver's inventory does not cover the ${leg.kind}` }
      : { kind: "refused", why: outcome.reason };
  const { gas } = outcome;
  if (maxGas !== undefined && gas > maxGas) return excessiveGas(leg, gas);
  const { maxFeePerGas, maxPriorityFeePerGas } = prices;
  const fees = { maxFeePerGas, maxPriorityFeePerGas };
  const outflow = { currency, amount };
  const plan = {
    chainId: chain.id,
    sender,
    leg,
    call,
    gasLimit: withHeadroom(gas),
    ...fees,
    outflow,
    cancelAfterMs,
  };
  return { kind: "ready", gas, plan };
}

export function excessiveGas({ kind }: Leg, gas: bigint): Extract<PaymentPlan, { kind: "tooExpensive" }> {
  return { kind: "tooExpensive", why: `the ${kind} would use ${gas} gas, more than allowed`, gas };
}

/**
 * Plans one payment on a chain that pays by transfers. In its slot, the nonce is a counter of ours, the call
 * holds the recipient and the order, and the gas is one unit at the price of the payment's cost.
 * @param cost in base units of the native token. Undefined: as the chain reports it
 * @throws RpcFault
 */
export async function planTransfer(
  connected: Pick<TransferChain, "chain" | "connection">,
  { leg, currency, amount, recipient, orderId, cancelAfterMs }: TransferInput,
  cost?: bigint,
): Promise<Exclude<PaymentPlan, { kind: "ready" }> | { readonly kind: "ready"; readonly plan: SlotPlan }> {
  const [why, maxFeePerGas] = await Promise.all([
    connected.connection.refusalOf({ recipient, currency, amount }),
    cost ?? connected.connection.paymentCost(currency, recipient),
  ]);
  if (why !== undefined) return { kind: "refused", why };
  const call = { to: recipient, data: orderId ?? "0x", value: 0n } as const;
  const gas = { gasLimit: 1n, maxFeePerGas, maxPriorityFeePerGas: 0n };
  const outflow = { currency, amount };
  return {
    kind: "ready",
    plan: {
      chainId: connected.chain.id,
      sender: connected.connection.solver,
      leg,
      call,
      ...gas,
      outflow,
      cancelAfterMs,
    },
  };
}
