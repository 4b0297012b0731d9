import type { Address } from "@causeway/domain";
import { rulesToJson } from "@causeway/wire";
import type { ApiKeyRecord, ApiKeyRegister, ApiKeyWish, FundingChallenge } from "./api-key-register.port.ts";
import { newSecret } from "./new-secret.adapter.ts";
import { IDENTITY_COLUMNS, identityOf } from "./api-key-rows.postgres.ts";
import type { ApiKeyRow } from "./api-key-rows.postgres.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const COLUMNS = `${IDENTITY_COLUMNS}, created_at_ms, updated_at_ms, revoked_at_ms, previous_until_ms`;

const insert = statement(
  "api_key_insert",
  `insert into api_keys (id, secret_hash, label, scopes, referrers, origins, rules, quote_per_minute, other_per_minute, created_at_ms, updated_at_ms)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) returning ${COLUMNS}`,
);
const all = statement("api_key_list", `select ${COLUMNS} from api_keys order by created_at_ms, id`);
const one = statement("api_key_get", `select ${COLUMNS} from api_keys where id = $1`);
const update = statement(
  "api_key_change",
  `update api_keys set label = coalesce($2, label), scopes = coalesce($3, scopes), referrers = coalesce($4, referrers),
     origins = coalesce($5, origins), rules = coalesce($6, rules),
     quote_per_minute = case when $7 then $8 else quote_per_minute end,
     other_per_minute = case when $7 then $9 else other_per_minute end, updated_at_ms = $10
   where id = $1 and revoked_at_ms is null and (funding_address is null or coalesce($5, origins) = '{}') returning ${COLUMNS}`,
);
const replaceSecret = statement(
  "api_key_rotate",
  `update api_keys set previous_secret_hash = secret_hash, previous_until_ms = $3, secret_hash = $2, updated_at_ms = $4
   where id = $1 and revoked_at_ms is null returning ${COLUMNS}`,
);
const revoke = statement(
  "api_key_revoke",
  `update api_keys set revoked_at_ms = coalesce(revoked_at_ms, $2), updated_at_ms = case when revoked_at_ms is null then $2 else updated_at_ms end
   where id = $1 returning ${COLUMNS}`,
);
const ask = statement(
  "api_key_challenge",
  `insert into funding_challenges (key_id, address, nonce, expires_at_ms) values ($1, $2, $3, $4)
   on conflict (key_id, address) do update set nonce = excluded.nonce, expires_at_ms = excluded.expires_at_ms`,
);
const asked = statement(
  "api_key_challenge_get",
  "select nonce, expires_at_ms from funding_challenges where key_id = $1 and address = $2",
);
const link = statement(
  "api_key_link",
  `with used as (delete from funding_challenges where key_id = $1 and address = $2 and nonce = $3 and expires_at_ms > $4 returning key_id)
   update api_keys set funding_address = $2, updated_at_ms = $4 from used
   where id = used.key_id and revoked_at_ms is null and origins = '{}' returning ${COLUMNS}`,
);

interface Row extends ApiKeyRow {
  created_at_ms: number;
  updated_at_ms: number;
  revoked_at_ms: number | null;
  previous_until_ms: number | null;
}

/** Keys on Postgres. A trigger of the table tells every process of each change. */
export function apiKeyRegister(sql: Sql): ApiKeyRegister {
  const first = ([row]: readonly Row[]): ApiKeyRecord | undefined =>
    row === undefined ? undefined : recordOf(row);
  return {
    async issue(wish, atMs) {
      const { id, key, secretHash } = newSecret();
      const rows = await sql.query<Row>(insert, [
        id,
        secretHash,
        wish.label,
        wish.scopes,
        wish.referrers,
        wish.origins,
        rulesText(wish),
        wish.limits.quotePerMinute ?? null,
        wish.limits.otherPerMinute ?? null,
        atMs,
      ]);
      const record = first(rows);
      if (record === undefined) throw new Error("invariant violated: inserted API key was not returned");
      return { key, record };
    },
    list: async () => (await sql.query<Row>(all, [])).map(recordOf),
    get: async (id) => first(await sql.query<Row>(one, [id])),
    async change(id, change, atMs) {
      const rows = await sql.query<Row>(update, [
        id,
        change.label ?? null,
        change.scopes ?? null,
        change.referrers ?? null,
        change.origins ?? null,
        change.rules === undefined ? null : rulesText({ rules: change.rules }),
        change.limits !== undefined,
        change.limits?.quotePerMinute ?? null,
        change.limits?.otherPerMinute ?? null,
        atMs,
      ]);
      return first(rows);
    },
    async rotate(id, previousUntilMs, atMs) {
      const { key, secretHash } = newSecret(id);
      const record = first(await sql.query<Row>(replaceSecret, [id, secretHash, previousUntilMs, atMs]));
      return record && { key, record };
    },
    revoke: async (id, atMs) => first(await sql.query<Row>(revoke, [id, atMs])),
    async openChallenge(id, address, { nonce, expiresAtMs }) {
      await sql.query(ask, [id, address, nonce, expiresAtMs]);
    },
    async challenge(id, address: Address): Promise<FundingChallenge | undefined> {
      const [row] = await sql.query<{ nonce: string; expires_at_ms: number }>(asked, [id, address]);
      return row && { nonce: row.nonce, expiresAtMs: row.expires_at_ms };
    },
    link: async (id, address, nonce, atMs) => first(await sql.query<Row>(link, [id, address, nonce, atMs])),
  };
}

const rulesText = ({ rules }: Pick<ApiKeyWish, "rules">): string => JSON.stringify(rulesToJson(rules));

function recordOf(row: Row): ApiKeyRecord {
  return {
    ...identityOf(row),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    revokedAtMs: row.revoked_at_ms ?? undefined,
    previousUntilMs: row.previous_until_ms ?? undefined,
  };
}
