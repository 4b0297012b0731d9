import {
  depositoryOf,
  MISSING_SOLVER_KEY,
  TEMPORARY_REASONS,
  type Address,
  type Hex,
  type Order,
} from "@causeway/domain";
import { decodeAddress, familyOf, formatTransactionId } from "@causeway/families";
import type { KnownChains } from "./settlement-services.port.ts";
import type { DuePayment } from "./settlement.port.ts";
import type { DepositClaim } from "./judge-deposits.ts";

/** The request to oracles about a payment. */
export interface Claim {
  readonly deposit: DepositClaim;
  readonly order: Order;
  /** The payment's transaction id, in the oracles' format. */
  readonly paymentTransactionId: string;
}

export type ClaimResult =
  | { readonly kind: "claim"; readonly claim: Claim }
  /** `isPermanent`: neither a reorg nor a configuration change can make it attestable. */
  | { readonly kind: "never"; readonly reason: string; readonly isPermanent: boolean };

/**
 * The claim that oracles can attest for a payment, or why they cannot. A payment that differs from its order
 * (another currency, recipient or solver) was correct, but the hub cannot repay it.
 */
export function claimOf(
  payment: DuePayment,
  chains: Pick<KnownChains, "profile">,
  isOwnSolver: (solver: Address) => boolean,
): ClaimResult {
  const unattestable = (reason: string) => ({ kind: "never", reason, isPermanent: false }) as const;
  const { deposit, request } = payment;
  const { terms } = request;
  const input = terms.order.inputs[0];
  if (deposit === undefined) return unattestable("the deposit is not stored");
  const { unrepaidReason } = deposit;
  // A missing key may be configured now or later; a refund close to its deadline may have been mined in time.
  if (payment.kind === "refund" && unrepaidReason !== undefined && !TEMPORARY_REASONS.has(unrepaidReason))
    return { kind: "never", reason: unrepaidReason, isPermanent: true };
  if (!deposit.canonical) return unattestable("the deposit was reorged out");
  if (deposit.orderId !== terms.orderId)
    return unattestable("the deposit does not carry the id of the order");
  if (!isOwnSolver(terms.order.solver)) return unattestable(`${MISSING_SOLVER_KEY} (SOLVER_FORMER_KEYS)`);
  const origin = chains.profile(deposit.chainId);
  if (origin === undefined) return unattestable("the chain of the deposit is not configured");
  const paymentChain = chains.profile(payment.chainId);
  if (paymentChain === undefined) return unattestable("the chain of the payment is not configured");
  if (input === undefined || terms.order.inputs.length !== 1)
    return unattestable("the order does not have exactly one input");
  if (input.payment.chainId !== origin.name || input.payment.currency !== deposit.currency)
    return unattestable("the deposit is not in the currency and on the chain of the order's input");
  // Oracles write addresses in the format of their family, which is the same on all its networks.
  const vm = familyOf(origin);
  const addressText = (bytes: Hex) => decodeAddress(vm, bytes);
  return {
    kind: "claim",
    claim: {
      order: terms.order,
      paymentTransactionId: formatTransactionId(paymentChain, payment.txHash),
      deposit: {
        chain: origin.name,
        transactionId: formatTransactionId(origin, deposit.txHash),
        depository: addressText(deposit.depository ?? depositoryOf(origin)),
        orderId: terms.orderId,
        depositor: addressText(deposit.depositor),
        currency: addressText(deposit.currency),
        amount: deposit.amount,
        ordinal: deposit.ordinal,
      },
    },
  };
}
