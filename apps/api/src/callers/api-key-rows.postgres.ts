import { rulesFromJson, sponsorshipRules } from "@causeway/wire";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";
import { apiKeys } from "./callers.tables.ts";

/** The columns that identify a key and define its permissions. */
export const IDENTITY = {
  id: apiKeys.id,
  label: apiKeys.label,
  scopes: apiKeys.scopes,
  referrers: apiKeys.referrers,
  origins: apiKeys.origins,
  fundingAddress: apiKeys.fundingAddress,
  rules: apiKeys.rules,
  quotePerMinute: apiKeys.quotePerMinute,
  otherPerMinute: apiKeys.otherPerMinute,
};

type ApiKeyRow = Pick<typeof apiKeys.$inferSelect, keyof typeof IDENTITY>;

/** @throws ZodError when the row has rules of a newer version: an unknown limit must not be ignored */
export function identityOf(row: ApiKeyRow): ApiKeyIdentity {
  return {
    id: row.id,
    label: row.label,
    scopes: row.scopes,
    referrers: row.referrers,
    origins: row.origins,
    fundingAddress: row.fundingAddress ?? undefined,
    rules: rulesFromJson(sponsorshipRules.parse(JSON.parse(row.rules))),
    limits: {
      ...(row.quotePerMinute === null ? {} : { quotePerMinute: row.quotePerMinute }),
      ...(row.otherPerMinute === null ? {} : { otherPerMinute: row.otherPerMinute }),
    },
  };
}
