import { join } from "node:path";
import { ConfigError } from "./config-error.ts";
import { readJsonFile, type ConfigLocation } from "./json-file.ts";
import { parseExactDecimal } from "./exact-decimal.ts";

/**
 * Fixed prices of `configs/prices.<ENVIRONMENT>.json`, `{ priceId: "decimal USD" }`, as USD with 18 decimals.
 * @throws ConfigError listing every entry that is not a positive decimal string
 */
export function loadFixedPrices(location: ConfigLocation): ReadonlyMap<string, bigint> {
  const fileName = `prices.${location.environment}.json`;
  const document = readJsonFile(join(location.configsDir, fileName), fileName);
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw new ConfigError([`${fileName}: must be an object that maps price ids to USD prices`]);
  const problems: string[] = [];
  const prices = new Map<string, bigint>();
  for (const [priceId, text] of Object.entries(document)) {
    const usd = typeof text === "string" ? parseExactDecimal(text, 18) : undefined;
    if (usd === undefined || usd === 0n)
      problems.push(`${fileName}: ${priceId} must be a decimal USD price above zero, in a string`);
    else prices.set(priceId, usd);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return prices;
}
