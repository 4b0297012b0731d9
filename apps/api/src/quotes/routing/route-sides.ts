import type { PricedUnit } from "@causeway/domain";
import type { ChosenRoute } from "./chosen-route.ts";
import type { RouteSwap } from "./find-swaps.ts";

/** The two sides of a route, for the response. */
export interface RouteSides {
  /** The swap in the user's own transaction. */
  readonly originSwap: RouteSwap | undefined;
  /**
   * The output of that swap, which is deposited. Absent: the user's payment is deposited, or there is no
   * deposit.
   */
  readonly deposit: bigint | undefined;
  /** What the solver pays before the fill's swap. Absent: it pays the recipient's currency. */
  readonly paid: { readonly amount: bigint; readonly unit: PricedUnit } | undefined;
  readonly originRouter: string;
  readonly originSources: string[] | undefined;
  readonly destinationRouter: string;
  readonly destinationSources: string[] | undefined;
}

const SEND: RouteSides = {
  originSwap: undefined,
  deposit: undefined,
  paid: undefined,
  originRouter: "direct",
  originSources: undefined,
  destinationRouter: "direct",
  destinationSources: undefined,
};

/** The sides of a route without swaps. */
const PLAIN: RouteSides = { ...SEND, originRouter: "depository", destinationRouter: "solver" };

/** The source name of wrapping and unwrapping. */
const ONE_FOR_ONE = "wrapped-native";

export function sidesOf(route: ChosenRoute): RouteSides {
  const { kind, trade } = route;
  if (kind === "send") return SEND;
  if (trade.origin === undefined && trade.destination === undefined) return PLAIN;
  const origin = trade.origin && routerOf(trade.origin);
  const destination = trade.destination && routerOf(trade.destination);
  return {
    originSwap: trade.origin,
    deposit: kind === "bridge" && trade.origin !== undefined ? trade.priced.input : undefined,
    paid:
      kind === "bridge" && trade.destination !== undefined
        ? { amount: trade.priced.expected, unit: route.pricing.facts.destination }
        : undefined,
    originRouter: origin?.router ?? "depository",
    originSources: origin?.sources,
    destinationRouter: kind === "swap" ? "direct" : (destination?.router ?? "solver"),
    destinationSources: destination?.sources,
  };
}

function routerOf({ pool }: RouteSwap): { router: string; sources: string[] | undefined } {
  return pool === undefined
    ? { router: ONE_FOR_ONE, sources: undefined }
    : { router: pool.source, sources: [pool.source] };
}
