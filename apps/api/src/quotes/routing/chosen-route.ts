import type { Currency, PricedTrade, PricedUnit, RequestKind, RouteTrade } from "@causeway/domain";
import type { SwapQuoter } from "@causeway/domain";
import type { RoutePricing } from "../../markets/index.ts";
import type { RouteSwap } from "./find-swaps.ts";

/** The route of a quote, priced. */
export type ChosenRoute = BridgeRoute | DirectRoute;

/** A deposit and a fill, with a swap before the deposit or in the fill where needed. */
export interface BridgeRoute {
  readonly kind: "bridge";
  readonly deposited: Currency;
  readonly paidFrom: Currency;
  /** Prices the payment of `paidFrom` for a deposit of `deposited`. */
  readonly pricing: RoutePricing;
  readonly trade: RouteTrade<RouteSwap>;
  /** The swap of the fill, for any amount. Absent: the fill does not swap. */
  readonly fillQuoter: SwapQuoter<RouteSwap> | undefined;
  /**
   * Deducted from the output because the service sends the origin transaction, USD with 18 decimals. Absent:
   * the user sends it.
   */
  readonly originGasUsd: bigint | undefined;
}

/** The user's own transaction on one chain: a payment, or a swap that pays the recipient. */
export interface DirectRoute {
  readonly kind: Extract<RequestKind, "send" | "swap">;
  /** Whether it pays native tokens to a contract. */
  readonly toContract?: boolean;
  readonly deposited: Currency;
  readonly paidFrom: Currency;
  readonly trade: RouteTrade<RouteSwap>;
}

/** The guarantees of a quote about its route. */
export interface RouteGuarantee {
  /** The minimum output. If the fill would yield less, the deposit is refunded. */
  readonly minimumAmount: bigint;
  /**
   * Minimum output, before the fill's slippage, that a deposit must buy; without a swap before the deposit,
   * the expected output.
   */
  readonly neededOutput: bigint;
  /**
   * The smallest deposit that is filled. Absent: only the exact deposit is filled, because no swap comes
   * before it or the user's transaction enforces the swap's amounts.
   */
  readonly minDeposit: bigint | undefined;
  /**
   * The most that the user pays. Exceeds the expected input only for the user's own swap with an exact
   * output.
   */
  readonly maxInput: bigint;
  /** The slippage of both sides together, in bps. */
  readonly slippageBps: number;
}

/** Prices of the currencies of a route. 0 means unknown. */
export interface RouteValues {
  readonly input: PricedUnit;
  readonly deposited: PricedUnit;
  readonly output: PricedUnit;
  readonly originNative: PricedUnit;
}

/** A trade that the service takes no part in and charges no fees for. */
export function freeTrade(amount: bigint): PricedTrade {
  return {
    input: amount,
    execution: 0n,
    service: 0n,
    app: 0n,
    net: amount,
    output: amount,
    expected: amount,
  };
}
