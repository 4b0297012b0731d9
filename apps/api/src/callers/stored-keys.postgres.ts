import { and, isNull, sql as text } from "drizzle-orm";
import type { StoredKey } from "./known-keys.adapter.ts";
import { IDENTITY, identityOf } from "./api-key-rows.postgres.ts";
import { apiKeys } from "./callers.tables.ts";
import { defineQuery, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

/** Channel on which a trigger of the table announces the id of each key that changes. */
export const API_KEYS_CHANNEL = "causeway_api_keys";

const read = defineQuery("api_keys_read", (db, { ids }: Params<{ ids: readonly string[] }>) =>
  db
    .select({
      ...IDENTITY,
      secretHash: apiKeys.secretHash,
      previousHash: apiKeys.previousSecretHash,
      previousUntilMs: apiKeys.previousUntilMs,
    })
    .from(apiKeys)
    .where(and(text`${apiKeys.id} = any(${ids})`, isNull(apiKeys.revokedAtMs))),
);

/** Reads keys that are not revoked, many in one query. */
export function storedKeys(sql: Sql): (ids: readonly string[]) => Promise<(StoredKey | undefined)[]> {
  return async (ids) => {
    const rows = await read(sql, { ids });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => {
      const row = byId.get(id);
      if (row === undefined) return undefined;
      const { secretHash, previousHash: hash, previousUntilMs: untilMs } = row;
      return {
        identity: identityOf(row),
        secretHash,
        previous: hash === null || untilMs === null ? undefined : { hash, untilMs },
      };
    });
  };
}
