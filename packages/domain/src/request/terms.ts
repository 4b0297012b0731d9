import type { Address, OrderId, RequestId } from "../ids/hex.ts";
import type { AgreedAppFees } from "../quote/app-fees.ts";
import type { FeeSponsorship } from "../quote/fee-sponsorship.ts";
import type { PairClass } from "../quote/fee-policy.ts";
import type { GasTopup } from "../quote/gas-topup.ts";
import type { Order } from "../order/order.ts";
import type { PermitTerms } from "../permit/permit-terms.ts";
import type { OutputCalls } from "./output-calls.ts";
import type { FailReason } from "./reasons.ts";

export type TradeType = "EXACT_INPUT" | "EXPECTED_OUTPUT" | "EXACT_OUTPUT";

/**
 * `bridge`: deposit and fill (also for two assets on one chain). `send`: the user pays the recipient
 * directly, on one chain; the service only watches. `swap`: the user's own transaction exchanges on one
 * chain, and pays the recipient, through the router; the service only watches. `call`: the service sends a
 * call for the user and an app pays for it; nothing is quoted, and its order is empty.
 */
export type RequestKind = "bridge" | "send" | "swap" | "call";

/** What was agreed in the quote. Written once, never changed. */
export interface RequestTerms {
  readonly requestId: RequestId;
  readonly orderId: OrderId;
  readonly kind: RequestKind;
  readonly tradeType: TradeType;
  readonly user: Address;
  readonly recipient: Address;
  /** Where a refund on the origin chain goes. */
  readonly refundTo: Address;
  /**
   * What the depository is to receive: of a request with a swap before the deposit, the expected output of
   * that swap.
   */
  readonly origin: {
    readonly chainId: number;
    readonly currency: Address;
    readonly amount: bigint;
    /**
     * Least deposit that is still filled; absent: exactly `amount`. With it, more than `amount` is filled
     * too, and pays out more. The order's input asks for this amount then: a fill is settled against nothing
     * less than what its order asks for.
     */
    readonly minimumAmount?: bigint;
  };
  /** What the user pays with when a swap turns it into what is deposited; absent: he pays `origin` itself. */
  readonly input?: { readonly currency: Address; readonly amount: bigint };
  readonly destination: {
    readonly chainId: number;
    readonly currency: Address;
    readonly expectedAmount: bigint;
    /** The promise: filling below it is forbidden. */
    readonly minimumAmount: bigint;
    /** The solver pays from this currency, exchanged in the fill; absent: from `currency` itself. */
    readonly paidFrom?: Address;
  };
  /**
   * What a deposit above `origin.amount` buys more than expected stays with the solver; absent: the recipient
   * gets it.
   */
  readonly surplusToSolver?: true;
  /**
   * The pair of the user's and the recipient's currencies, by which the quote was priced; absent: that of
   * what is deposited and what is paid.
   */
  readonly pairClass?: PairClass;
  /** USD value of the input at quote time, 18 decimals; chooses the confirmation tier. */
  readonly inputUsd: bigint;
  /**
   * USD (18 decimals) that the output pays for the service sending the origin transaction; absent: nothing is
   * paid for that.
   */
  readonly originGasUsd?: bigint;
  readonly explicitDeposit: boolean;
  readonly createdAtMs: number;
  /** What apps take of the input, credited to their balances once the fill is final; absent: nothing. */
  readonly appFees?: AgreedAppFees;
  /** The same, USD with 18 decimals at the quote's prices. */
  readonly appFeesUsd?: bigint;
  /** What an app pays of the fees; absent: nothing. */
  readonly sponsorship?: FeeSponsorship;
  /** Native coin that the recipient gets beside the output, in the same transaction; absent: none. */
  readonly gasTopup?: GasTopup;
  /** Until then the quoted output is kept although prices move. */
  readonly firmUntilMs: number;
  /** A deposit that is not filled by then is refunded. Never later than the order's deadline. */
  readonly fillDeadlineMs: number;
  /**
   * Money that arrives at the deposit address later is refunded; earlier than `fillDeadlineMs`, because it
   * has yet to be moved. Absent: `fillDeadlineMs`.
   */
  readonly payByMs?: number;
  readonly referrer: string | undefined;
  /** `debug-force-refund` of the client contract: never filled, always refunded. */
  readonly forceRefund: boolean;
  /** Why it is never filled, when `forceRefund` is not what a client asked for. */
  readonly refundReason?: FailReason;
  /** Its money comes through this address, and is deposited from there by the service. */
  readonly depositAddress?: {
    readonly address: Address;
    readonly strict: boolean;
    /** The zero address: nobody. */
    readonly recovery: Address;
  };
  /** What the user is to sign, in place of a transaction of his own; absent: he pays by one. */
  readonly permit?: PermitTerms;
  /**
   * Nonce (ms) that his transfer is to carry, on a chain whose transfers carry no id: he says by signature
   * what it is for. Absent: the deposit names its order itself.
   */
  readonly walletNonce?: number;
  /**
   * Calls that the fill makes with the output; absent: it is paid. The amounts of `destination` are what the
   * calls get.
   */
  readonly outputCalls?: OutputCalls;
  /** Id of the API key that asked for the quote; absent when none did. */
  readonly keyId?: string;
  /**
   * What else the quote said, for the history of the request; absent in requests of older versions, and of
   * calls without a quote.
   */
  readonly quoted?: {
    /** From the deposit to the fill. */
    readonly timeEstimateSeconds: number;
    /** From the expected output down to the least one. */
    readonly slippageBps?: number;
    /** Worth of the expected output; absent before it was stored, and without a price. */
    readonly outputUsd?: string;
    /** Absent before they were stored. */
    readonly fees?: QuotedFees;
  };
  readonly order: Order;
}

/** A fee as quoted: smallest units of the deposited currency, and USD with six decimals. */
export interface QuotedFee {
  readonly amount: string;
  readonly usd: string;
}

/** The fees that a quote named. */
export interface QuotedFees {
  /** Flat fee and gas of the fill. */
  readonly execution: QuotedFee;
  /** Of the service; may be negative. */
  readonly service: QuotedFee;
  /** Of apps; absent: none. */
  readonly app?: QuotedFee;
  /** The part that an app pays for the user; absent: none. */
  readonly sponsored?: QuotedFee;
  /** What exchanges and rounding change the value by, USD with six decimals; negative: a cost. */
  readonly swapImpactUsd: string;
}

/** The last moment at which the money of a request may come, ms since epoch. */
export function payBy({ payByMs, fillDeadlineMs }: Pick<RequestTerms, "payByMs" | "fillDeadlineMs">): number {
  return payByMs ?? fillDeadlineMs;
}
