import { randomBytes } from "node:crypto";
import type {
  Idempotency,
  IdempotencyBegin,
  IdempotencyLease,
  IdempotencyWrites,
  IdempotentCall,
  StoredAnswer,
} from "./idempotency.port.ts";
import { IDEMPOTENCY_KEPT_MS, LeaseLost } from "./idempotency.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

/** A run that takes longer is taken for dead. Longer than any route may take to answer. */
const LEASE_MS = 60_000;

// One statement: it reads the stored call, and only where that leaves the key free it takes the row; of any
// number of callers one does. A caller that finds the call under way waits for no lock that a commit holds. A
// process whose clock is ahead goes by the database's: it would free keys too early.
const begin = statement(
  "idempotency_begin",
  `with clock as materialized (select least($6::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as now_ms),
   known as (
     select body_hash, status, body,
       created_at_ms > now_ms - ${IDEMPOTENCY_KEPT_MS} and (status is not null or lease_until_ms > now_ms or body_hash <> $4) as holds
     from idempotency_keys, clock where scope = $1 and endpoint = $2 and key = $3
   ), taken as (
     insert into idempotency_keys as row (scope, endpoint, key, body_hash, lease_token, lease_until_ms, created_at_ms)
     select $1, $2, $3, $4, $5, now_ms + ${LEASE_MS}, now_ms from clock
     where not exists (select from known where holds)
     on conflict (scope, endpoint, key) do update
       set body_hash = excluded.body_hash, lease_token = excluded.lease_token, lease_until_ms = excluded.lease_until_ms,
           created_at_ms = excluded.created_at_ms, status = null, body = null
       where row.created_at_ms <= excluded.created_at_ms - ${IDEMPOTENCY_KEPT_MS}
          or (row.status is null and row.lease_until_ms <= excluded.created_at_ms and row.body_hash = excluded.body_hash)
     returning lease_token
   )
   select lease_token, holds, body_hash, status, body from (values (1)) as one (row) left join taken on true left join known on true`,
);
const OWN = "scope = $1 and endpoint = $2 and key = $3 and lease_token = $4 and status is null";
const store = statement(
  "idempotency_finish",
  `update idempotency_keys set status = $5, body = $6 where ${OWN} returning key`,
);
const release = statement("idempotency_abandon", `delete from idempotency_keys where ${OWN}`);
const prune = statement(
  "idempotency_prune",
  `delete from idempotency_keys where (scope, endpoint, key) in
     (select scope, endpoint, key from idempotency_keys where created_at_ms < $1 order by created_at_ms limit $2 for update skip locked)
   returning key`,
);

interface Row {
  lease_token: string | null;
  holds: boolean | null;
  body_hash: string | null;
  status: number | null;
  body: string | null;
}

/** First answers of calls, on Postgres. */
export function idempotencyStore(sql: Sql): Idempotency {
  return {
    async begin({ scope, endpoint, key, bodyHash }: IdempotentCall, nowMs): Promise<IdempotencyBegin> {
      const token = randomBytes(16).toString("hex");
      for (;;) {
        const [row] = await sql.query<Row>(begin, [scope, endpoint, key, bodyHash, token, nowMs]);
        if (row?.lease_token === token) return { kind: "begun", lease: { scope, endpoint, key, token } };
        // Taken by somebody else since it was read: what they made of it is there to be read now.
        if (row?.holds !== true) continue;
        if (row.body_hash !== bodyHash) return { kind: "otherBody" };
        if (row.status === null || row.body === null) return { kind: "underWay" };
        return { kind: "answered", answer: { status: row.status, body: row.body } };
      }
    },
    finish: async (lease, answer) => await finish(sql, lease, answer),
    async abandon(lease) {
      await sql.query(release, [lease.scope, lease.endpoint, lease.key, lease.token]);
    },
  };
}

/** What a commit writes of a call that it carries out. */
export function idempotencyWrites(sql: Sql): IdempotencyWrites {
  return {
    finish: async (lease, answer) => await finish(sql, lease, answer),
    prune: async (beforeMs, limit) => (await sql.query(prune, [beforeMs, limit])).length,
  };
}

async function finish(sql: Sql, lease: IdempotencyLease, answer: StoredAnswer): Promise<void> {
  const { scope, endpoint, key, token } = lease;
  const own = await sql.query(store, [scope, endpoint, key, token, answer.status, answer.body]);
  if (own.length === 0) throw new LeaseLost(lease);
}
