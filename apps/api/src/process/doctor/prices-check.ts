import { findingsOf, type Finding, type Gathered } from "./finding.ts";

export interface PriceFacts {
  /** By `priceId`. */
  readonly prices: ReadonlyMap<string, { readonly asOfMs: number; readonly isDisputed?: boolean }>;
  /** Faults of the second source; also empty without a second source. */
  readonly secondFaults: readonly string[];
}

export interface ExpectedPrices {
  /** Name of the source, such as `coingecko`; `fixed`: prices of a file. */
  readonly source: string;
  readonly isLocal: boolean;
  readonly maxAgeMs: number;
  readonly volatileMaxAgeMs: number;
  readonly currencies: readonly {
    readonly priceId: string;
    readonly isStable: boolean;
    /** Whether the solver holds the currency, so that quotes need its price. */
    readonly isHeld: boolean;
  }[];
}

/** @param nowMs ms since epoch */
export function judgePrices(
  expected: ExpectedPrices,
  gathered: Gathered<PriceFacts>,
  nowMs: number,
): readonly Finding[] {
  const source = findingsOf("price.source", expected.source);
  if (expected.source === "fixed")
    return [
      expected.isLocal
        ? source.ok("fixed prices of a file")
        : source.warning({
            found: "PRICE_SOURCE is fixed",
            why: "prices never change, so clients buy what has become more expensive",
            remedy: "set PRICE_SOURCE=coingecko or defillama, unless all currencies are one asset",
          }),
    ];
  if (gathered.kind === "unreachable")
    return [
      source.problem({
        found: `the source gives no prices (${gathered.reason})`,
        why: "quotes are refused with 503 PRICE_FETCH_FAILED",
        remedy:
          "check PRICE_SOURCE, PRICE_URL, PRICE_API_KEY, and whether outgoing connections to this host are allowed",
      }),
    ];
  const { prices, secondFaults } = gathered.facts;
  return [
    source.ok(`${prices.size} prices`),
    ...secondFaults.slice(0, 1).map((reason) =>
      findingsOf("price.second-source", "PRICE_SECOND_SOURCE").problem({
        found: `the second source gives no prices (${reason})`,
        why: "no price is confirmed, so quotes between different assets are refused",
        remedy: "check PRICE_SECOND_SOURCE, PRICE_SECOND_URL and PRICE_SECOND_API_KEY",
      }),
    ),
    ...expected.currencies.flatMap((currency) => judgePrice(currency, expected, prices, nowMs)),
  ];
}

function judgePrice(
  { priceId, isStable, isHeld }: ExpectedPrices["currencies"][number],
  { maxAgeMs, volatileMaxAgeMs }: ExpectedPrices,
  prices: PriceFacts["prices"],
  nowMs: number,
): readonly Finding[] {
  const price = prices.get(priceId);
  const findings = findingsOf("price", priceId);
  if (price === undefined) {
    const fault = {
      found: `the source has no price of ${priceId}`,
      why: "quotes with this currency are refused with 503 PRICE_FETCH_FAILED",
      remedy: "correct priceId in the chain file to the source's id",
    };
    return isHeld ? [findings.problem(fault)] : [];
  }
  const ageMs = nowMs - price.asOfMs;
  const limitMs = isStable ? maxAgeMs : Math.min(maxAgeMs, volatileMaxAgeMs);
  return [
    ...(ageMs > limitMs
      ? [
          findings.warning({
            found: `the price is ${Math.round(ageMs / 1000)} seconds old, expected at most ${limitMs / 1000}`,
            why: "quotes between this and other assets are refused",
            remedy: `use a fresher source, or raise ${isStable ? "PRICE_MAX_AGE_MS" : "PRICE_VOLATILE_MAX_AGE_MS"}`,
          }),
        ]
      : []),
    ...(price.isDisputed === true
      ? [
          findings.warning({
            found: "the two price sources disagree, or one has no price",
            why: "quotes between this and other assets are refused",
            remedy: "compare both sources; correct priceId if it means different assets",
          }),
        ]
      : []),
  ];
}
