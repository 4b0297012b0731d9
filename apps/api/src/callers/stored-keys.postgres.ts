import type { StoredKey } from "./known-keys.adapter.ts";
import { IDENTITY_COLUMNS, identityOf } from "./api-key-rows.postgres.ts";
import type { ApiKeyRow } from "./api-key-rows.postgres.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

/** Channel on which a trigger of the table announces the id of each key that changes. */
export const API_KEYS_CHANNEL = "causeway_api_keys";

const read = statement(
  "api_keys_read",
  `select ${IDENTITY_COLUMNS}, secret_hash, previous_secret_hash, previous_until_ms
   from api_keys where id = any($1::text[]) and revoked_at_ms is null`,
);

interface Row extends ApiKeyRow {
  secret_hash: Buffer;
  previous_secret_hash: Buffer | null;
  previous_until_ms: number | null;
}

/** Reads keys that are not revoked, many in one query. */
export function storedKeys(sql: Sql): (ids: readonly string[]) => Promise<(StoredKey | undefined)[]> {
  return async (ids) => {
    const rows = await sql.query<Row>(read, [ids]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => {
      const row = byId.get(id);
      if (row === undefined) return undefined;
      const { previous_secret_hash: hash, previous_until_ms: untilMs } = row;
      return {
        identity: identityOf(row),
        secretHash: row.secret_hash,
        previous: hash === null || untilMs === null ? undefined : { hash, untilMs },
      };
    });
  };
}
