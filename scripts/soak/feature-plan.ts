import { kindOf } from "../../test/e2e/feature-rows.ts";
import {
  type FeatureName,
  featureNames,
  reasonAgainst,
  type Route,
} from "../../test/support/route-features.ts";
import { seededRandom, type Random } from "./random.ts";

/** A request of the families run: between which chains, and with which features. */
export interface PlannedRequest {
  readonly from: string;
  readonly to: string;
  readonly features: readonly FeatureName[];
  readonly dollars: number;
}

const MIN_DOLLARS = 20;
const MAX_DOLLARS = 120;
/** Limit for requests with a swap: the pool of the token that the solver does not hold is shallow. */
const MAX_SWAPPED_DOLLARS = 40;
const APP_FEE_CHANCE = 0.3;

const tradeTypes: readonly FeatureName[] = ["exactInput", "expectedOutput", "exactOutput"];
/** These work with any trade type; the others are tested with an exact input. */
const anyTradeType: readonly FeatureName[] = ["appFees", "subsidizeFees", "swapBefore", "swapAfter"];
/** A fast fill excludes app fees; sweeps and executed calls charge their own cost. */
const withAppFees: readonly FeatureName[] = [
  ...tradeTypes,
  ...anyTradeType,
  "fixedRate",
  "calls",
  "gasTopup",
];

/**
 * Requests over every feature that a route between these chains has. All are used once before any is used
 * again. Pure: the same seed plans the same.
 */
export function planFeatures(chains: readonly string[], requests: number, seed: number): PlannedRequest[] {
  const random = seededRandom(seed);
  const cells = shuffle(cellsOf(chains), random);
  return Array.from({ length: requests }, (_, index) => {
    const cell = cells[index % cells.length];
    if (cell === undefined) throw new RangeError("there is no route between the chains");
    const { from, to } = random.pick(cell.routes);
    const features = new Set([cell.feature]);
    if (!features.has("appFees") && withAppFees.includes(cell.feature) && random.chance(APP_FEE_CHANCE))
      features.add("appFees");
    if (!tradeTypes.includes(cell.feature))
      features.add(anyTradeType.includes(cell.feature) ? random.pick(tradeTypes) : "exactInput");
    const isSwapped = features.has("swapBefore") || features.has("swapAfter");
    const dollars = random.int(MIN_DOLLARS, isSwapped ? MAX_SWAPPED_DOLLARS : MAX_DOLLARS);
    return { from, to, features: [...features], dollars };
  });
}

/** `swapBefore` needs a token that the solver does not hold, and only the local EVM chains have one. */
export const canRun = (feature: FeatureName, { from }: Route): boolean =>
  feature !== "swapBefore" || from === "evm";

interface Cell {
  readonly feature: FeatureName;
  /** Between chains of the same two kinds. */
  readonly routes: readonly { readonly from: string; readonly to: string }[];
}

function cellsOf(chains: readonly string[]): readonly Cell[] {
  const pairs = chains.flatMap((from) => chains.filter((to) => to !== from).map((to) => ({ from, to })));
  const byKinds = [...Map.groupBy(pairs, ({ from, to }) => `${kindOf(from)} ${kindOf(to)}`).values()];
  return byKinds.flatMap((routes) =>
    featureNames
      .filter((feature) =>
        routes.every(({ from, to }) => {
          const route = { from: kindOf(from), to: kindOf(to) };
          return reasonAgainst(feature, route) === undefined && canRun(feature, route);
        }),
      )
      .map((feature) => ({ feature, routes })),
  );
}

function shuffle<T>(list: readonly T[], random: Random): readonly T[] {
  const remaining = [...list];
  return list.flatMap(() => remaining.splice(random.int(0, remaining.length - 1), 1));
}
