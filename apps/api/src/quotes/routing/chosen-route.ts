import type { Currency, PricedTrade, PricedUnit, RequestKind, RouteTrade } from "@causeway/domain";
import type { Exchange } from "@causeway/domain";
import type { RoutePricing } from "../../markets/prices/quote-pricing.ts";
import type { Swapped } from "./exchanges.ts";

/** The way a quote goes, priced. */
export type ChosenRoute = BridgeRoute | DirectRoute;

/** A deposit and a fill, with an exchange before the one and in the other where need be. */
export interface BridgeRoute {
  readonly kind: "bridge";
  /** What the depository receives. */
  readonly deposited: Currency;
  /** What the solver pays with. */
  readonly paidFrom: Currency;
  /** From `deposited` to `paidFrom`. */
  readonly pricing: RoutePricing;
  readonly trade: RouteTrade<Swapped>;
  /** The exchange in the fill, for other amounts; undefined: there is none. */
  readonly fillExchange: Exchange<Swapped> | undefined;
  /**
   * What the output pays for the service sending the origin transaction, USD with 18 decimals; undefined: the
   * user sends it.
   */
  readonly originGasUsd: bigint | undefined;
}

/** The user's own transaction on one chain: a payment, or an exchange that pays the recipient. */
export interface DirectRoute {
  readonly kind: Extract<RequestKind, "send" | "swap">;
  /** A payment of native token to an account that has code. */
  readonly toContract?: boolean;
  readonly deposited: Currency;
  readonly paidFrom: Currency;
  readonly trade: RouteTrade<Swapped>;
}

/** What the currencies of a route are worth. A price of 0 is not known. */
export interface RouteValues {
  readonly input: PricedUnit;
  readonly deposited: PricedUnit;
  readonly output: PricedUnit;
  readonly originNative: PricedUnit;
}

/** A trade in which the service has no part and takes nothing. */
export function untouched(amount: bigint): PricedTrade {
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
