import { Client } from "pg";

/** The progress of a request's fill, according to the tables. */
export interface FillTiming {
  readonly requestId: string;
  readonly seenAtMs: number;
  readonly firstBroadcastAtMs: number;
  /** Blocks that the deposit waited for beyond its own. */
  readonly confirmations: number;
  readonly chainId: number;
  readonly nonce: number;
}

/** The data that the run reads from the service's own tables. */
export interface SoakDatabase {
  /** The number of these requests that are not final or ended, by state. */
  unsettled(requestIds: readonly string[]): Promise<Map<string, number>>;
  fillTimings(): Promise<FillTiming[]>;
  /** Descriptions of rows that should not exist. */
  leftovers(requestIds: readonly string[]): Promise<string[]>;
  /** The solver's lanes, by its address. */
  lanes(
    solver: string,
  ): Promise<{ chainId: number; nextNonce: number; minedAttempts: number; deadSlots: number }[]>;
  minedAttemptHashes(): Promise<Set<string>>;
  /** Facts worth printing that are not errors. */
  remarks(requestIds: readonly string[]): Promise<string[]>;
  /** The process that serves these queries. */
  backendPid(): Promise<number>;
  close(): Promise<void>;
}

export async function openDatabase(url: string): Promise<SoakDatabase> {
  const client = new Client({ connectionString: url });
  // The next query reports a lost connection.
  client.on("error", () => undefined);
  await client.connect();
  const rows = async (sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
    (await client.query<Record<string, unknown>>(sql, values)).rows;
  return {
    unsettled: async (requestIds) => {
      const problemRows = await rows(
        "select state, count(*)::int as n from requests where request_id = any($1) and not final group by state",
        [requestIds],
      );
      return new Map(problemRows.map(({ state, n }) => [String(state), Number(n)]));
    },
    fillTimings: async () =>
      (await rows(fillTimingsSql)).map((row) => ({
        requestId: String(row["request_id"]),
        seenAtMs: Number(row["seen_at_ms"]),
        firstBroadcastAtMs: Number(row["first_broadcast_at_ms"]),
        confirmations: Number(row["confirmations"]),
        chainId: Number(row["chain_id"]),
        nonce: Number(row["nonce"]),
      })),
    leftovers: async (requestIds) => {
      const sentences: string[] = [];
      for (const { sql, takesIds } of leftoverQuestions) {
        const problemRows = await rows(sql, takesIds === true ? [requestIds] : []);
        sentences.push(...problemRows.map(({ problem }) => String(problem)));
      }
      return sentences;
    },
    lanes: async (solver) =>
      (await rows(lanesSql, [solver.toLowerCase()])).map((row) => ({
        chainId: Number(row["chain_id"]),
        nextNonce: Number(row["next_nonce"]),
        minedAttempts: Number(row["mined"]),
        deadSlots: Number(row["dead"]),
      })),
    minedAttemptHashes: async () => {
      const remarkRows = await rows(
        "select a.tx_hash from slots s join attempts a on a.slot_id = s.id and a.n = s.mined_attempt",
      );
      return new Set(remarkRows.map(({ tx_hash }) => String(tx_hash)));
    },
    remarks: async (requestIds) => {
      const remarkRows = await rows(remarksSql, [requestIds]);
      return remarkRows.map(({ remark }) => String(remark));
    },
    backendPid: async () => Number((await rows("select pg_backend_pid() as pid"))[0]?.["pid"]),
    close: async () => await client.end(),
  };
}

const fillTimingsSql = `
  select r.request_id, d.seen_at_ms, d.confirm_at_block - d.block_number as confirmations,
         s.chain_id, s.nonce, min(a.first_broadcast_at_ms) as first_broadcast_at_ms
  from requests r
  join deposits d on d.id = r.deposit_id
  join slots s on s.leg_kind = 'fill' and s.leg_id = r.request_id and s.state <> 'dead'
  join attempts a on a.slot_id = s.id
  where a.first_broadcast_at_ms is not null
  group by r.request_id, d.id, s.id`;

const lanesSql = `
  select l.chain_id, l.next_nonce, count(s.mined_attempt) as mined,
         count(*) filter (where s.state = 'dead') as dead
  from lanes l left join slots s on s.chain_id = l.chain_id and s.sender = l.sender
  where lower(l.sender) = $1
  group by l.chain_id, l.sender, l.next_nonce`;

/** Each query returns one row per leftover. */
const leftoverQuestions: readonly { readonly sql: string; readonly takesIds?: boolean }[] = [
  {
    takesIds: true,
    sql: `select format('request %s is stored as %s, final %s, reason %s', request_id, state, final, fail_reason) as problem
      from requests where request_id = any($1) and (state <> 'filled' or not final)`,
  },
  {
    takesIds: true,
    sql: `select format('request %s, which no client uses, is %s', request_id, state) as problem
      from requests where request_id <> all($1) and state not in ('quoted', 'expired')`,
  },
  {
    // Settlement continues after the requests; the soak of families checks it.
    sql: `select format('slot with nonce %s of chain %s (%s of %s) is %s: %s', nonce, chain_id, leg_kind, leg_id, state, coalesce(cancel_reason, dead_reason)) as problem
      from slots where state <> 'final' and leg_kind <> 'hub'`,
  },
  {
    sql: `select format('%s outbox rows are unpublished, the oldest since %s ms', count(*), max((extract(epoch from now()) * 1000)::bigint - created_at_ms)) as problem
      from outbox where published_at_ms is null and created_at_ms < extract(epoch from now()) * 1000 - 2000 having count(*) > 0`,
  },
  {
    sql: `select format('deposit %s of %s on chain %s is %s, canonical %s, refund %s: %s', id, tx_hash, chain_id, disposition, canonical, refund_state, reason) as problem
      from deposits where disposition <> 'accepted' or not canonical or refund_state <> 'none'`,
  },
  {
    sql: `select format('payment %s of chain %s is not settled (request %s)', tx_hash, chain_id, request_id) as problem
      from (select tx_hash, chain_id, request_id from sends where not settled
        union all select tx_hash, chain_id, request_id from send_reports) unsettled`,
  },
];

const remarksSql = `
  select format('%s unused quotes (a retried call)', count(*)) as remark
    from requests where request_id <> all($1) having count(*) > 0
  union all
  select format('%s attempts were signed for %s slots', count(*), count(distinct slot_id)) from attempts`;
