import { PLAINTEXT_URL, sendsKeyInClear } from "@causeway/attest";
import { ConfigError, Secret } from "@causeway/config";

/** Endpoint of an oracle. */
export interface OracleUrl {
  /** Without a trailing slash and without credentials. */
  readonly url: string;
  readonly apiKey: Secret | undefined;
}

/**
 * Reads `<base URL>|<API key>` entries joined with `;`. The key and its bar are optional.
 * @throws ConfigError with all problems; none contains a key or a URL
 */
export function readOracleUrls(text: string): readonly OracleUrl[] {
  const entries = text.split(";").map((entry) => entry.trim());
  if (entries.at(-1) === "") entries.pop();
  const problems: string[] = [];
  const seen = new Set<string>();
  const oracles = entries.flatMap((entry, index) => {
    const oracle = readEntry(entry);
    const problem =
      typeof oracle === "string"
        ? oracle
        : seen.has(oracle.url)
          ? "repeats the URL of an earlier entry"
          : undefined;
    if (problem !== undefined) problems.push(`ORACLE_URLS entry ${index + 1} ${problem}`);
    if (typeof oracle === "string") return [];
    seen.add(oracle.url);
    return [oracle];
  });
  if (entries.length === 0) problems.push("ORACLE_URLS must list at least one oracle");
  if (problems.length > 0) throw new ConfigError(problems);
  return oracles;
}

/** @returns the oracle, or the problem of an invalid entry as text */
function readEntry(entry: string): OracleUrl | string {
  const bar = entry.indexOf("|");
  const url = URL.parse((bar < 0 ? entry : entry.slice(0, bar)).trim());
  const key = bar < 0 ? "" : entry.slice(bar + 1).trim();
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    return "must start with an http or https URL";
  if (sendsKeyInClear(url)) return PLAINTEXT_URL;
  if (url.username !== "" || url.password !== "")
    return "has credentials in its URL; put the API key after the |";
  if (url.search !== "" || url.hash !== "") return "must not have a query or fragment";
  // Other characters are invalid in a header, so every request would fail.
  if (!/^[\x21-\x7e]*$/.test(key)) return "has a key with characters not allowed in a header";
  return {
    url: `${url.origin}${url.pathname}`.replace(/\/+$/, ""),
    apiKey: key === "" ? undefined : new Secret(key),
  };
}
