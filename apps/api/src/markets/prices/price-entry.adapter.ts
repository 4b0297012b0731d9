import { parseDecimal, USD_DECIMALS } from "@causeway/domain";
import type { UsdPrice } from "./price-source.port.ts";

/** Parses a price and its timestamp in seconds. Undefined if either is missing or not positive. */
export function priceEntry(usdText: unknown, asOfSecondsText: unknown): UsdPrice | undefined {
  if (typeof usdText !== "string" || typeof asOfSecondsText !== "string") return undefined;
  const usd = parseDecimal(usdText, USD_DECIMALS);
  const asOfMs = parseDecimal(asOfSecondsText, 3);
  if (usd === undefined || usd <= 0n || asOfMs === undefined || asOfMs <= 0n) return undefined;
  return { usd, asOfMs: Number(asOfMs) };
}

/** Splits ids into groups, so that each URL stays short. */
export function groupIds(ids: readonly string[]): string[][] {
  const groups: string[][] = [];
  for (let start = 0; start < ids.length; start += IDS_PER_REQUEST)
    groups.push(ids.slice(start, start + IDS_PER_REQUEST));
  return groups;
}

const IDS_PER_REQUEST = 100;
