// Measures the cost of claiming webhook deliveries among many removed endpoints: `npm run bench:webhooks`.
import type pg from "pg";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { webhookQueue } from "../../apps/api/src/push/webhook-queue.postgres.ts";
import { median } from "../median.ts";
import { onOwnDatabase } from "../own-database.ts";

const REMOVED = 200_000;
const LIVING = 2_000;
const ROUNDS = 15;
const NOW_MS = 1_800_000_000_000;
const GOAL_MS = 50;

const database = { name: "claims", statementTimeoutMs: 60_000 };
process.exitCode = await onOwnDatabase(process.env, database, async ({ pool }) => await measure(pool));

async function measure(pool: pg.Pool): Promise<number> {
  const queue = webhookQueue(sqlOn(pool));
  const claim = async (): Promise<{ readonly tookMs: number; readonly claimedCount: number }> => {
    const startedAtMs = performance.now();
    const deliveries = await queue.claim({
      nowMs: NOW_MS,
      leaseMs: 30_000,
      perEndpoint: 8,
      perKey: 16,
      limit: 64,
    });
    return { tookMs: performance.now() - startedAtMs, claimedCount: deliveries.length };
  };
  let passed = true;
  const report = async (what: string): Promise<void> => {
    const rounds: Awaited<ReturnType<typeof claim>>[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await claim());
    const times = rounds.map(({ tookMs }) => tookMs);
    const worstMs = Math.max(...times);
    passed &&= worstMs <= GOAL_MS;
    process.stdout.write(
      `${worstMs <= GOAL_MS ? "PASS" : "MISS"}  ${what}: median ${median(times).toFixed(1)} ms, worst ${worstMs.toFixed(1)} ms, ${rounds.map(({ claimedCount }) => claimedCount).join(" ")} claimed\n`,
    );
  };
  await pool.query(
    `insert into api_keys (id, label, secret_hash, scopes, referrers, origins, rules, created_at_ms, updated_at_ms)
     select 'key' || n, '', decode(md5(n::text), 'hex'), '{read}', '{}', '{}', '{}', 0, 0 from generate_series(1, 200) n`,
  );
  // Ten active endpoints per key; all removed ones belong to one key.
  await pool.query(
    `insert into webhook_endpoints (id, key_id, url, label, headers, secret, created_at_ms, updated_at_ms, deleted_at_ms)
     select 'wh_' || md5(n::text), 'key' || (case when n <= $2 then n % 200 + 1 else 1 end), 'https://a.example', '', '{}', 's', 0, 0,
       case when n <= $2 then null else 1 end
     from generate_series(1, $1::int) n`,
    [REMOVED + LIVING, LIVING],
  );
  await pool.query("vacuum analyze webhook_endpoints");
  await report("nothing to deliver");
  // Ten requests with three changes each per active endpoint.
  await pool.query(
    `insert into requests (request_id, order_id, kind, state, origin_chain_id, destination_chain_id, created_at_ms, updated_at_ms, fill_deadline_ms, terms)
     select '0x' || lpad(to_hex(n), 64, '0'), '0x' || lpad(to_hex(n), 64, '1'), 'bridge', 'quoted', 1, 2, 0, 0, 0, '{}' from generate_series(1, 10) n`,
  );
  await pool.query(
    `insert into status_events (request_id, seq, key_id, state, final, only_final, front, in_tx_hashes, tx_hashes, refund_tx_hashes, at_ms)
     select '0x' || lpad(to_hex(n), 64, '0'), seq, 'key1', 'quoted', false, false, 'none', '{}', '{}', '{}', 0 from generate_series(1, 10) n, generate_series(1, 3) seq`,
  );
  await pool.query(
    `insert into webhook_deliveries (endpoint_id, request_id, seq, next_at_ms, created_at_ms)
     select w.id, e.request_id, e.seq, 0, 0 from webhook_endpoints w cross join status_events e where w.deleted_at_ms is null`,
  );
  await pool.query("analyze webhook_deliveries");
  await report(`${LIVING * 30} deliveries of all living endpoints`);
  return passed ? 0 : 1;
}
