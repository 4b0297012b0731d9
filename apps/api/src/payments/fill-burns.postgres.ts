import type { FillBurnReads, FillBurnWrites } from "./fill-burns.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const note = statement(
  "fill_burn_note",
  `insert into fill_burns (slot_id, request_id, chain_id, wei, unpaid_wei, usd, at_ms) values ($1, $2, $3, $4, $4, $5, $6)
   on conflict (slot_id) do nothing`,
);
const count = statement(
  "fill_burn_count",
  "select count(*)::int as burns from fill_burns where request_id = $1",
);
const keep = statement(
  "fill_burn_keep",
  "update fill_burns set unpaid_wei = div((wei - coalesce(sponsor_wei, 0)) * $2, $3) where request_id = $1",
);
const uncharged = statement(
  "fill_burn_uncharged",
  "select coalesce(sum(usd), 0) as usd from fill_burns where request_id = $1 and sponsor_wei is null",
);
const charge = statement(
  "fill_burn_charge",
  `update fill_burns set sponsor_wei = div(wei * $2, $3), unpaid_wei = wei - div(wei * $2, $3)
   where request_id = $1 and sponsor_wei is null and usd is not null`,
);
const sponsored = statement(
  "read_sponsored_fill_burns",
  "select coalesce(sum(sponsor_wei), 0) as wei from fill_burns where request_id = $1",
);
const unpaidSince = statement(
  "read_unpaid_fill_burns",
  "select chain_id, sum(unpaid_wei) as wei from fill_burns where at_ms > $1 and unpaid_wei > 0 group by chain_id",
);
const lockUnderWay = statement(
  "fill_burn_lock",
  "select pg_advisory_xact_lock(hashtextextended('causeway:burns under way', 0))",
);
const underWay = statement(
  "fill_burns_under_way",
  `select coalesce(sum(uncovered_usd), 0) as usd from slots
   where uncovered_usd > 0 and state in ('open', 'mined') and (state = 'open' or mined_status = 'reverted')`,
);
const noteUnderWay = statement(
  "fill_burn_note_under_way",
  "update slots set uncovered_usd = $2 where id = $1",
);

/** Gas of reverted fills inside one transaction. */
export function fillBurnWrites(sql: Sql): FillBurnWrites {
  return {
    async note({ id, chainId, gasUsed = 0n, effectiveGasPrice = 0n }, requestId, usd, atMs): Promise<number> {
      await sql.query(note, [id, requestId, chainId, gasUsed * effectiveGasPrice, usd ?? null, atMs]);
      const [row] = await sql.query<{ burns: number }>(count, [requestId]);
      return row?.burns ?? 0;
    },
    async unchargedUsd(requestId) {
      const [row] = await sql.query<{ usd: bigint }>(uncharged, [requestId]);
      return row?.usd ?? 0n;
    },
    async charged(requestId, { paidUsd, burntUsd }) {
      await sql.query(charge, [requestId, paidUsd, burntUsd]);
    },
    async lockUnderWay() {
      await sql.query(lockUnderWay, []);
      const [row] = await sql.query<{ usd: bigint }>(underWay, []);
      return row?.usd ?? 0n;
    },
    async noteUnderWay(slotId, usd) {
      await sql.query(noteUnderWay, [slotId, usd]);
    },
    async keep(requestId, { kept, burnt }): Promise<void> {
      if (burnt === 0n) return;
      const unpaid = kept >= burnt ? 0n : burnt - (kept > 0n ? kept : 0n);
      await sql.query(keep, [requestId, unpaid, burnt]);
    },
  };
}

/** Reads of the same. */
export function fillBurnReads(sql: Sql): FillBurnReads {
  return {
    async sponsoredBurnWei(requestId) {
      const [row] = await sql.query<{ wei: bigint }>(sponsored, [requestId]);
      return row?.wei ?? 0n;
    },
    async unpaidBurnsSince(sinceMs) {
      const rows = await sql.query<{ chain_id: number; wei: bigint }>(unpaidSince, [sinceMs]);
      return rows.map((row) => ({ chainId: row.chain_id, wei: row.wei }));
    },
  };
}
