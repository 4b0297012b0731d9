import { ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import { wholeNumber } from "@causeway/wire";
import type { LiquiditySource } from "../../markets/liquidity/liquidity.port.ts";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";

/** Which swap sources one side of a route may use. */
export interface SideChoice {
  /** Absent: all sources that are not excluded. */
  readonly included: ReadonlySet<string> | undefined;
  readonly excluded: ReadonlySet<string>;
  readonly maxHops: number;
  /** Query external sources even if a pool has a quote. */
  readonly external: boolean;
  /** The client excluded external sources that exist on the chain. */
  readonly excludesExternal: boolean;
}

/** The routing options of a quote request. */
export interface SwapChoice {
  readonly origin: SideChoice;
  readonly destination: SideChoice;
  /** The user's own transaction must not swap, neither before a deposit nor on a same-chain route. */
  readonly noOriginSwaps: boolean;
  /** On a same-chain route, the solver pays instead of a pool. */
  readonly isFilledBySolver: boolean;
  readonly allowsAnyImpact: boolean;
  /** Fields of the request that exclude ways to swap. */
  readonly filters: readonly string[];
}

const FILTERS = [
  "disableOriginSwaps",
  "includedSwapSources",
  "excludedSwapSources",
  "includedOriginSwapSources",
  "includedDestinationSwapSources",
  "maxRouteLength",
  "forceSolverExecution",
] as const satisfies readonly (keyof QuoteInput)[];

/** Maximum number of consecutive pools: a longer path costs more gas than it saves. */
const MAX_HOPS = 3;

const NONE: ReadonlySet<string> = new Set();
const PLAIN_SIDE: SideChoice = {
  included: undefined,
  excluded: NONE,
  maxHops: MAX_HOPS,
  external: false,
  excludesExternal: false,
};

/** @throws ServiceError INVALID_REQUEST for a source that no chain of the route has */
export function readSwapChoice(
  liquidity: LiquiditySource,
  origin: AnyConnectedChain,
  destination: AnyConnectedChain,
  input: QuoteInput,
): SwapChoice {
  const sourceNames = {
    origin: namesOn(liquidity, origin),
    destination: origin === destination ? undefined : namesOn(liquidity, destination),
  };
  const allNames = [...sourceNames.origin, ...(sourceNames.destination ?? [])];
  const excluded = namesOf(input, "excludedSwapSources", allNames) ?? NONE;
  const included = namesOf(input, "includedSwapSources", allNames);
  const maxHops = hopsOf(input.maxRouteLength);
  const side = (
    { chain }: AnyConnectedChain,
    field: "includedOriginSwapSources" | "includedDestinationSwapSources",
    names: readonly string[],
  ): SideChoice => {
    const named = namesOf(input, field, names) ?? included;
    const { useExternalLiquidity: external } = input;
    const externalSources = external === false ? externalNames(chain, names) : NO_NAMES;
    if (named === undefined && excluded === NONE && maxHops === MAX_HOPS && external === undefined)
      return PLAIN_SIDE;
    return {
      included: named,
      excluded: externalSources.length === 0 ? excluded : new Set([...excluded, ...externalSources]),
      maxHops,
      external: external === true || namesExternal(chain, named),
      excludesExternal: externalSources.length > 0,
    };
  };
  return {
    origin: side(origin, "includedOriginSwapSources", sourceNames.origin),
    destination: withoutExternalSources(
      destination,
      side(destination, "includedDestinationSwapSources", sourceNames.destination ?? sourceNames.origin),
      sourceNames.destination ?? sourceNames.origin,
    ),
    noOriginSwaps: input.disableOriginSwaps === true,
    isFilledBySolver: input.forceSolverExecution === true,
    allowsAnyImpact: input.overridePriceImpact === true,
    filters: FILTERS.filter((field) => input[field] !== undefined && input[field] !== false),
  };
}

/**
 * Excludes external sources from fills: they quote exact inputs for immediate execution, but a fill buys an
 * exact output later.
 */
function withoutExternalSources(
  { chain }: AnyConnectedChain,
  choice: SideChoice,
  names: readonly string[],
): SideChoice {
  const externalSources = externalNames(chain, names);
  if (externalSources.length === 0) return choice;
  return { ...choice, excluded: new Set([...choice.excluded, ...externalSources]), external: false };
}

const NO_NAMES: readonly string[] = [];

function namesOn(liquidity: LiquiditySource, { chain }: AnyConnectedChain): readonly string[] {
  return liquidity.sources(chain.id);
}

function externalNames(
  { liquidity }: AnyConnectedChain["chain"],
  names: readonly string[],
): readonly string[] {
  const poolSources = liquidity?.sources ?? [];
  return names.filter((name) => !poolSources.some((source) => source.name === name));
}

/** Naming an external source allows it. */
function namesExternal(chain: AnyConnectedChain["chain"], named: ReadonlySet<string> | undefined): boolean {
  return named !== undefined && externalNames(chain, [...named]).length > 0;
}

function namesOf(
  input: QuoteInput,
  field:
    | "includedSwapSources"
    | "excludedSwapSources"
    | "includedOriginSwapSources"
    | "includedDestinationSwapSources",
  supported: readonly string[],
): ReadonlySet<string> | undefined {
  const names = input[field];
  if (names === undefined || names.length === 0) return undefined;
  const unknown = names.filter((name) => !supported.includes(name));
  if (unknown.length > 0)
    throw new ServiceError(
      "INVALID_REQUEST",
      `${field}: unknown swap sources ${unknown.join(", ")}; GET /swap-sources lists the supported ones`,
      { field, data: { unknown, known: supported } },
    );
  return new Set(names);
}

function hopsOf(length: number | string | undefined): number {
  const hops = length === undefined ? undefined : wholeNumber(length);
  return hops === undefined || hops === 0 ? MAX_HOPS : Math.min(hops, MAX_HOPS);
}
