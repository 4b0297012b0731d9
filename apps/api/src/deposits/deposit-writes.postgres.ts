import type { DepositId } from "@causeway/domain";
import type { DepositRecord } from "../db/records.port.ts";
import type { DepositSighting, DepositWrites } from "../db/unit-of-work.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { DEPOSIT_COLUMNS, depositOf } from "../requests/rows.postgres.ts";
import type { DepositRow } from "../requests/rows.postgres.ts";

/**
 * What names a deposit for good, and where it was read; one array each, so that a block with thousands costs
 * one statement.
 */
const SIGHTED =
  "unnest($2::text[], $3::integer[], $4::text[], $5::numeric[], $6::text[], $7::text[], $8::text[]";
const SIGHTED_COLUMNS = "tx_hash, ordinal, currency, amount, depositor, sender, order_id";

// A known deposit that is canonical in the same block is no news. Only whether oracles can attest it may be
// known better by now.
const unrecorded = statement(
  "deposits_unrecorded",
  `select s.n from ${SIGHTED}, $9::text[], $10::boolean[], $11::boolean[])
     with ordinality as s (${SIGHTED_COLUMNS}, block_hash, unattestable, unknown, n)
   where not exists (
     select from deposits d where d.chain_id = $1 and d.tx_hash = s.tx_hash and d.currency = s.currency and d.amount = s.amount
       and d.depositor = s.depositor and d.sender = s.sender and coalesce(d.order_id, '') = coalesce(s.order_id, '')
       and d.ordinal = s.ordinal and d.canonical and d.block_hash = s.block_hash
       and (d.unattestable = s.unattestable or s.unknown))
   order by s.n`,
);
const record = statement(
  "deposits_record",
  `insert into deposits as d (chain_id, ${SIGHTED_COLUMNS}, block_number, block_hash, canonical, confirm_at_block, request_id,
     disposition, seen_at_ms, value_usd, depository, unattestable)
   select $1, ${SIGHTED_COLUMNS}, block_number, block_hash, true, confirm_at_block, request_id, 'unattributed', seen_at_ms, value_usd,
     depository, unattestable
   from ${SIGHTED}, $9::bigint[], $10::text[], $11::bigint[], $12::text[], $13::bigint[], $14::numeric[], $15::text[], $16::boolean[])
     with ordinality as s (${SIGHTED_COLUMNS}, block_number, block_hash, confirm_at_block, request_id, seen_at_ms, value_usd, depository,
       unattestable, n)
   order by s.n
   on conflict (chain_id, tx_hash, currency, amount, depositor, sender, coalesce(order_id, ''), ordinal) do update
     set block_number = excluded.block_number, block_hash = excluded.block_hash, canonical = true,
         confirm_at_block = excluded.confirm_at_block, unattestable = excluded.unattestable
     where not d.canonical or d.block_hash <> excluded.block_hash or d.unattestable <> excluded.unattestable
   returning ${DEPOSIT_COLUMNS}`,
);
// As a refund that was given up: it is not planned, and what a reorg drops is judged anew.
const keepTooSmall = statement(
  "deposits_keep_too_small",
  `update deposits d set disposition = 'refund', reason = s.reason, refund_state = 'impossible', refund_fail_reason = 'AMOUNT_TOO_LOW_TO_REFUND'
   from unnest($1::bigint[], $2::text[]) as s (id, reason)
   where d.id = s.id and d.refund_state = 'none' and d.refund_released_at_ms is null
     and (not $3::boolean or (d.disposition = 'unattributed' and d.request_id is null))`,
);
const valueAbove = statement(
  "deposit_value_above",
  `select coalesce(sum(value_usd), 0) as usd from deposits
   where chain_id = $1 and block_number > $2 and canonical and disposition = 'accepted'`,
);
const lock = statement("deposit_lock", `select ${DEPOSIT_COLUMNS} from deposits where id = $1 for update`);
const setDisposition = statement(
  "deposit_set_disposition",
  `update deposits set disposition = $2, reason = $3, request_id = coalesce($4, request_id),
     refund_released_at_ms = case when $2 in ('accepted', 'unattributed') then null else refund_released_at_ms end
   where id = $1`,
);
const place = statement("deposit_place", "update deposits set request_id = $2, value_usd = $3 where id = $1");
const setRefund = statement(
  "deposit_set_refund",
  `update deposits set refund_state = $2, refund_fail_reason = $3, refund_waits = null,
     unrepaid_usd = case when $2 in ('none', 'impossible') then null else unrepaid_usd end,
     unrepaid_at_ms = case when $2 in ('none', 'impossible') then null else unrepaid_at_ms end,
     unrepaid_reason = case when $2 in ('none', 'impossible') then null else unrepaid_reason end
   where id = $1`,
);
const lockUnrepaid = statement(
  "deposit_lock_unrepaid",
  "select pg_advisory_xact_lock(hashtextextended('causeway:unrepaid refunds', 0))",
);
const unrepaidSince = statement(
  "deposit_unrepaid_since",
  `select coalesce(sum(unrepaid_usd), 0) as usd,
     coalesce(sum(unrepaid_usd) filter (where request_id is null), 0) as unattributed_usd
   from deposits where unrepaid_at_ms > $1`,
);
const setUnrepaid = statement(
  "deposit_set_unrepaid",
  "update deposits set unrepaid_usd = $2, unrepaid_reason = $3, unrepaid_at_ms = $4 where id = $1",
);
const noteRefundWaits = statement(
  "deposit_note_refund_waits",
  "update deposits set refund_waits = $2 where id = $1 and refund_waits is null returning id",
);
const releaseRefund = statement(
  "deposit_release_refund",
  `update deposits set refund_state = 'none', refund_fail_reason = null, refund_waits = null, refund_released_at_ms = $2
   where id = $1`,
);
const refundedAndVanished = statement(
  "deposit_refunded_and_vanished",
  `select id from deposits where request_id = $1 and chain_id = $2 and depositor = $3 and currency = $4
     and not canonical and refund_state in ('sent', 'final') order by id limit 1`,
);
const unaskedRefundedAndVanished = statement(
  "deposit_unasked_refunded_and_vanished",
  `select id from deposits where request_id is null and chain_id = $1 and depositor = $2 and currency = $3
     and order_id is not distinct from $4 and not canonical and refund_state in ('sent', 'final') order by id limit 1`,
);
const removeOrphaned = statement(
  "deposit_remove_orphaned",
  // A release does not outlive the deposit that it was given for: one that returns is judged anew.
  `update deposits set canonical = false,
     refund_released_at_ms = case when refund_state in ('sent', 'final') then refund_released_at_ms end,
     refund_fail_reason = case when refund_state <> 'impossible' then refund_fail_reason end,
     refund_waits = case when refund_state <> 'impossible' then refund_waits end,
     refund_state = case when refund_state = 'impossible' then 'none' else refund_state end
   where chain_id = $1 and block_number > $2 and block_number <= $3 and canonical and block_hash <> all($4::text[])
   returning ${DEPOSIT_COLUMNS}`,
);
// Two questions in one, for each has an index of its own.
const dueConfirmed = statement(
  "deposit_due_confirmed",
  `select ${DEPOSIT_COLUMNS.split(", ")
    .map((column) => `d.${column}`)
    .join(", ")}
   from (
     select request_id, deposit_id from requests where state = 'deposited' and origin_chain_id = $1
     union
     select request_id, deposit_id from requests where front in ('held', 'debited') and deposit_id is not null and origin_chain_id = $1
   ) r join deposits d on d.id = r.deposit_id
   where d.canonical and d.disposition = 'accepted' and d.confirm_at_block <= $2
   order by r.request_id`,
);

const orphaned = statement(
  "deposits_orphaned",
  `select ${DEPOSIT_COLUMNS} from deposits
   where chain_id = $1 and block_number > $2 and block_number <= $3 and canonical and block_hash <> all($4::text[])
     and request_id is not null and refund_state <> 'impossible'`,
);
const refundsDue = statement(
  "deposit_refunds_due",
  `select ${DEPOSIT_COLUMNS} from deposits
   where request_id = $1 and chain_id = $2 and canonical and disposition = 'refund' and refund_state = 'none' order by id for update`,
);

const setAside = statement(
  "deposits_set_aside",
  `select ${DEPOSIT_COLUMNS} from deposits
   where request_id = $1 and chain_id = $2 and canonical and disposition = 'unattributed' and unattestable and refund_state = 'none'
   order by id for update`,
);

/** Deposits inside one transaction. */
export function depositWrites(sql: Sql): DepositWrites {
  return {
    unrecorded: (chainId, sightings) => unrecordedDeposits(sql, chainId, sightings),
    async record(chainId, deposits) {
      const rows = await sql.query<DepositRow>(record, [
        chainId,
        ...sightedColumns(deposits),
        deposits.map(({ blockNumber }) => blockNumber),
        deposits.map(({ blockHash }) => blockHash),
        deposits.map(({ confirmAtBlock }) => confirmAtBlock),
        deposits.map(({ requestId }) => requestId ?? null),
        deposits.map(({ seenAtMs }) => seenAtMs),
        deposits.map(({ valueUsd }) => valueUsd),
        deposits.map(({ depository }) => depository ?? null),
        deposits.map(({ isUnattestable }) => isUnattestable === true),
      ]);
      return rows.map(depositOf);
    },
    async keepTooSmall(deposits, onlyUnattributed = false): Promise<void> {
      const values = [deposits.map(({ id }) => id), deposits.map(({ reason }) => reason), onlyUnattributed];
      await sql.query(keepTooSmall, values);
    },
    async valueAbove(chainId, blockNumber): Promise<bigint> {
      const [row] = await sql.query<{ usd: bigint }>(valueAbove, [chainId, blockNumber]);
      return row?.usd ?? 0n;
    },
    async lock(id): Promise<DepositRecord | undefined> {
      const [row] = await sql.query<DepositRow>(lock, [id]);
      return row && depositOf(row);
    },
    async setDisposition(id, disposition, reason, requestId): Promise<void> {
      await sql.query(setDisposition, [id, disposition, reason ?? null, requestId ?? null]);
    },
    async place(id, requestId, valueUsd): Promise<void> {
      await sql.query(place, [id, requestId, valueUsd]);
    },
    async setRefund(id, state, failReason): Promise<void> {
      await sql.query(setRefund, [id, state, failReason ?? null]);
    },
    async lockUnrepaid(sinceMs): Promise<{ usd: bigint; unattributedUsd: bigint }> {
      await sql.query(lockUnrepaid, []);
      const [row] = await sql.query<{ usd: bigint; unattributed_usd: bigint }>(unrepaidSince, [sinceMs]);
      return { usd: row?.usd ?? 0n, unattributedUsd: row?.unattributed_usd ?? 0n };
    },
    async setUnrepaid(id, { usd, reason }, atMs): Promise<void> {
      await sql.query(setUnrepaid, [id, usd, reason, atMs]);
    },
    async refundedAndVanished(deposit): Promise<DepositId | undefined> {
      const { requestId, chainId, depositor, currency, orderId } = deposit;
      const [query, values] =
        requestId === undefined
          ? ([unaskedRefundedAndVanished, [chainId, depositor, currency, orderId ?? null]] as const)
          : ([refundedAndVanished, [requestId, chainId, depositor, currency]] as const);
      const [row] = await sql.query<{ id: number }>(query, values);
      return row && String(row.id);
    },
    async releaseRefund(id, atMs): Promise<void> {
      await sql.query(releaseRefund, [id, atMs]);
    },
    async noteRefundWaits(id, reason): Promise<boolean> {
      return (await sql.query(noteRefundWaits, [id, reason])).length > 0;
    },
    async removeOrphaned(chainId, aboveBlock, upToBlock, canonicalHashes): Promise<DepositRecord[]> {
      const rows = await sql.query<DepositRow>(removeOrphaned, [
        chainId,
        aboveBlock,
        upToBlock,
        canonicalHashes,
      ]);
      return rows.map(depositOf);
    },
    async orphaned(chainId, aboveBlock, upToBlock, canonicalHashes): Promise<DepositRecord[]> {
      const values = [chainId, aboveBlock, upToBlock, canonicalHashes];
      return (await sql.query<DepositRow>(orphaned, values)).map(depositOf);
    },
    async refundsDue(requestId, chainId): Promise<DepositRecord[]> {
      return (await sql.query<DepositRow>(refundsDue, [requestId, chainId])).map(depositOf);
    },
    async setAside(requestId, chainId): Promise<DepositRecord[]> {
      return (await sql.query<DepositRow>(setAside, [requestId, chainId])).map(depositOf);
    },
    async dueConfirmed(chainId, headNumber): Promise<DepositRecord[]> {
      return (await sql.query<DepositRow>(dueConfirmed, [chainId, headNumber])).map(depositOf);
    },
  };
}

/** Those that are not stored, or not as canonical in this block, in the order given. */
export async function unrecordedDeposits<Sighting extends DepositSighting>(
  sql: Sql,
  chainId: number,
  sightings: readonly Sighting[],
): Promise<Sighting[]> {
  const rows = await sql.query<{ n: number }>(unrecorded, [
    chainId,
    ...sightedColumns(sightings),
    sightings.map(({ blockHash }) => blockHash),
    sightings.map(({ isUnattestable }) => isUnattestable === true),
    sightings.map(({ isAttestabilityUnknown }) => isAttestabilityUnknown === true),
  ]);
  const positions = new Set(rows.map(({ n }) => n - 1));
  return sightings.filter((_, at) => positions.has(at));
}

/** Parameters $2 to $8 of statements about {@link SIGHTED} deposits. */
function sightedColumns(sightings: readonly DepositSighting[]): readonly (readonly unknown[])[] {
  return [
    sightings.map(({ txHash }) => txHash),
    sightings.map(({ ordinal }) => ordinal),
    sightings.map(({ currency }) => currency),
    sightings.map(({ amount }) => amount),
    sightings.map(({ depositor }) => depositor),
    sightings.map(({ sender }) => sender),
    sightings.map(({ orderId }) => orderId ?? null),
  ];
}
