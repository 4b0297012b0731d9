import { orderIdOf } from "@causeway/domain";
import type { Address, Chain, FailReason, FoundFunds, Hex, Order, RequestTerms } from "@causeway/domain";
import type { QuotePolicy } from "../../markets/quote-policy.port.ts";
import type { Random } from "../../db/random.port.ts";
import { newRequestId } from "../../requests/index.ts";

type Needs = {
  readonly random: Random;
  readonly quotePolicy: QuotePolicy;
  /** The current solver: the first order of an address may name a former one. */
  readonly solver: Address;
};

/**
 * The current routers as `extraData`: the first order of an address may name former ones, whose payments are
 * no longer attested.
 */
export interface FillContracts {
  readonly origin: Hex;
  readonly destination: Hex;
}

/**
 * The same terms with another refund recipient: an order names it, but the sender is known only when the
 * funds arrive.
 */
export function termsWithRefundTo(
  { random, quotePolicy, solver }: Needs,
  terms: RequestTerms,
  { origin, destination }: FillContracts,
  refundTo: Address,
): RequestTerms {
  const order: Order = {
    ...terms.order,
    solver,
    solverChainId: quotePolicy.solverChainName,
    salt: random.bytes32(),
    inputs: terms.order.inputs.map((input) => ({
      ...input,
      refunds: input.refunds.map((refund) => ({ ...refund, recipient: refundTo, extraData: origin })),
    })),
    output: { ...terms.order.output, extraData: destination },
  };
  return { ...terms, requestId: newRequestId(random), orderId: orderIdOf(order), refundTo, order };
}

/** The inputs of a refund of found funds. */
export interface FundsToRefund extends FoundFunds {
  readonly to: Address;
  readonly reason: FailReason;
  /** USD with 18 decimals; 0 if unknown. */
  readonly valueUsd: bigint;
}

/** Terms that refund funds whole, less the gas. `first` is the request that the address was issued for. */
export function refundTerms(
  { random, quotePolicy, solver }: Needs,
  first: RequestTerms,
  chain: Pick<Chain, "id" | "name">,
  fillContracts: FillContracts,
  { currency, amount, to, reason, valueUsd }: FundsToRefund,
  nowMs: number,
): RequestTerms {
  const fillDeadlineMs = nowMs + quotePolicy.orderLifetimeSeconds * 1000;
  const deadline = Math.ceil(fillDeadlineMs / 1000) + quotePolicy.fillGraceSeconds;
  const order: Order = {
    ...first.order,
    solver,
    solverChainId: quotePolicy.solverChainName,
    salt: random.bytes32(),
    inputs: [
      {
        payment: { chainId: chain.name, currency, amount, weight: 1n },
        refunds: [
          {
            chainId: chain.name,
            recipient: to,
            currency,
            // Whatever remains after gas.
            minimumAmount: 0n,
            deadline: deadline + quotePolicy.refundGraceSeconds,
            extraData: fillContracts.origin,
          },
        ],
      },
    ],
    output: {
      ...first.order.output,
      payments: first.order.output.payments.map((payment) => ({
        ...payment,
        minimumAmount: 0n,
        expectedAmount: 0n,
      })),
      deadline,
      extraData: fillContracts.destination,
    },
  };
  const { chainId, currency: outCurrency } = first.destination;
  return {
    requestId: newRequestId(random),
    orderId: orderIdOf(order),
    kind: "bridge",
    tradeType: "EXACT_INPUT",
    user: first.user,
    recipient: first.recipient,
    refundTo: to,
    origin: { chainId: chain.id, currency, amount },
    destination: { chainId, currency: outCurrency, expectedAmount: 0n, minimumAmount: 0n },
    inputUsd: valueUsd,
    explicitDeposit: true,
    createdAtMs: nowMs,
    firmUntilMs: nowMs,
    fillDeadlineMs,
    referrer: first.referrer,
    forceRefund: true,
    refundReason: reason,
    ...(first.keyId !== undefined && { keyId: first.keyId }),
    order,
  };
}
