import type { Address, OrderId, RequestId } from "../ids/hex.ts";
import type { QuotedAppFees } from "../quote/app-fees.ts";
import type { FeeSponsorship } from "../quote/fee-sponsorship.ts";
import type { PairClass } from "../quote/fee-policy.ts";
import type { GasTopup } from "../quote/gas-topup.ts";
import type { Order } from "../order/order.ts";
import type { PermitTerms } from "../permit/permit-terms.ts";
import type { OutputCalls } from "./output-calls.ts";
import type { FailReason } from "./reasons.ts";

export type TradeType = "EXACT_INPUT" | "EXPECTED_OUTPUT" | "EXACT_OUTPUT";

/**
 * `bridge`: deposit and fill (also for two assets on one chain). `send`: the user pays the recipient directly
 * on one chain. `swap`: the user's transaction swaps through the router on one chain and pays the recipient.
 * The service only tracks `send` and `swap`. `call`: the service sends a call for the user and an app pays
 * for it; there is no quote, and the order is empty.
 */
export type RequestKind = "bridge" | "send" | "swap" | "call";

/** The terms that the quote fixed. Written once, never changed. */
export interface RequestTerms {
  readonly requestId: RequestId;
  readonly orderId: OrderId;
  readonly kind: RequestKind;
  readonly tradeType: TradeType;
  readonly user: Address;
  readonly recipient: Address;
  /** The recipient of a refund on the origin chain. */
  readonly refundTo: Address;
  /** What the depository should receive; with a swap before the deposit, the expected output of that swap. */
  readonly origin: {
    readonly chainId: number;
    readonly currency: Address;
    readonly amount: bigint;
    /**
     * The smallest deposit that is filled. Absent: exactly `amount`. If set, deposits above `amount` are
     * filled too, with a larger output. The order's input then requests this amount, because settlement
     * requires what the order requests.
     */
    readonly minimumAmount?: bigint;
  };
  /** The user's payment if a swap turns it into the deposit. Absent: the user pays `origin` itself. */
  readonly input?: { readonly currency: Address; readonly amount: bigint };
  readonly destination: {
    readonly chainId: number;
    readonly currency: Address;
    readonly expectedAmount: bigint;
    /** The guaranteed minimum: filling below it is forbidden. */
    readonly minimumAmount: bigint;
    /** The currency that the solver pays from, swapped in the fill. Absent: `currency` itself. */
    readonly paidFrom?: Address;
  };
  /**
   * If a deposit exceeds `origin.amount`, the solver keeps the output beyond the expected amount. Absent: the
   * recipient gets the additional output.
   */
  readonly surplusToSolver?: true;
  /**
   * The class of the user's and the recipient's currencies, by which the quote was priced. Absent: the class
   * of the deposited and the paid currency.
   */
  readonly pairClass?: PairClass;
  /** USD value of the input at quote time, 18 decimals; selects the confirmation tier. */
  readonly inputUsd: bigint;
  /** USD (18 decimals) that the output pays for the service sending the origin transaction. Absent: none. */
  readonly originGasUsd?: bigint;
  readonly explicitDeposit: boolean;
  readonly createdAtMs: number;
  /** App fees on the input, credited to the apps' balances once the fill is final. Absent: none. */
  readonly appFees?: QuotedAppFees;
  /** Value of the app fees at the quote's prices, USD with 18 decimals. */
  readonly appFeesUsd?: bigint;
  /** What an app pays of the fees. Absent: nothing. */
  readonly sponsorship?: FeeSponsorship;
  /**
   * Native tokens that the recipient gets in addition to the output, in the same transaction. Absent: none.
   */
  readonly gasTopup?: GasTopup;
  /** Until this time the quoted output is guaranteed although prices move. */
  readonly firmUntilMs: number;
  /** A deposit that is not filled by this time is refunded. Never later than the order's deadline. */
  readonly fillDeadlineMs: number;
  /**
   * Payments to the deposit address after this time are refunded. Earlier than `fillDeadlineMs`, because the
   * sweep takes time. Absent: `fillDeadlineMs`.
   */
  readonly payByMs?: number;
  readonly referrer: string | undefined;
  /** `debug-force-refund` of the public contract: never filled, always refunded. */
  readonly forceRefund: boolean;
  /** Why the request is never filled. Absent: a client set `forceRefund`, or `forceRefund` is false. */
  readonly refundReason?: FailReason;
  /** The user pays to this address, and the service deposits the funds from there. Absent: none. */
  readonly depositAddress?: {
    readonly address: Address;
    readonly strict: boolean;
    /** Zero address: no one. */
    readonly recovery: Address;
  };
  /** What the user signs instead of sending a transaction. Absent: the user sends a transaction. */
  readonly permit?: PermitTerms;
  /**
   * Nonce (ms) of the user's transfer on a chain whose transfers carry no id: the user signs which order the
   * transfer pays. Absent: the deposit itself names its order.
   */
  readonly walletNonce?: number;
  /**
   * Calls that the fill makes with the output, which receive the amounts of `destination`. Absent: the
   * output is paid.
   */
  readonly outputCalls?: OutputCalls;
  /** Id of the API key that requested the quote, if any. */
  readonly keyId?: string;
  /**
   * Display facts of the quote for the history of the request. Absent in requests of older versions, and for
   * calls without a quote.
   */
  readonly quoted?: {
    /** From the deposit to the fill. */
    readonly timeEstimateSeconds: number;
    /** How far the minimum output is below the expected output, bps. */
    readonly slippageBps?: number;
    /** Value of the expected output, USD. Absent in older requests and without a price. */
    readonly outputUsd?: string;
    /** Absent in older requests. */
    readonly fees?: QuotedFees;
  };
  readonly order: Order;
}

/** A fee as quoted: base units of the deposited currency, and USD with six decimals. */
export interface QuotedFee {
  readonly amount: string;
  readonly usd: string;
}

/** The fees of a quote. */
export interface QuotedFees {
  /** Flat fee and gas of the fill. */
  readonly execution: QuotedFee;
  /** The service's fee; may be negative. */
  readonly service: QuotedFee;
  /** App fees. Absent: none. */
  readonly app?: QuotedFee;
  /** The part that an app pays for the user. Absent: none. */
  readonly sponsored?: QuotedFee;
  /** Change in value by swaps and rounding, USD with six decimals; negative: a cost. */
  readonly swapImpactUsd: string;
}

/** The last moment at which a request can be paid, ms since epoch. */
export function payBy({ payByMs, fillDeadlineMs }: Pick<RequestTerms, "payByMs" | "fillDeadlineMs">): number {
  return payByMs ?? fillDeadlineMs;
}
