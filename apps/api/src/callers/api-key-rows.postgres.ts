import type { Address } from "@causeway/domain";
import { rulesFromJson, sponsorshipRules } from "@causeway/wire";
import type { ApiKeyIdentity, ApiScope } from "../http/api-keys.port.ts";

/** What tells a key, as the table has it. */
export interface ApiKeyRow {
  id: string;
  label: string;
  scopes: string[];
  referrers: string[];
  origins: string[];
  funding_address: string | null;
  rules: string;
  quote_per_minute: number | null;
  other_per_minute: number | null;
}

export const IDENTITY_COLUMNS =
  "id, label, scopes, referrers, origins, funding_address, rules, quote_per_minute, other_per_minute";

/**
 * @throws ZodError when the rules were written by something that knows others: a bound that is not understood
 * must not be left out.
 */
export function identityOf(row: ApiKeyRow): ApiKeyIdentity {
  return {
    id: row.id,
    label: row.label,
    scopes: row.scopes as ApiScope[],
    referrers: row.referrers,
    origins: row.origins,
    fundingAddress: (row.funding_address as Address | null) ?? undefined,
    rules: rulesFromJson(sponsorshipRules.parse(JSON.parse(row.rules))),
    limits: {
      ...(row.quote_per_minute === null ? {} : { quotePerMinute: row.quote_per_minute }),
      ...(row.other_per_minute === null ? {} : { otherPerMinute: row.other_per_minute }),
    },
  };
}
