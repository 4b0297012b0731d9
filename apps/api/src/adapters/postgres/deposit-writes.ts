import type { DepositId } from "@causeway/domain";
import type { DepositRecord } from "../../ports/records.ts";
import type { DepositWrites, NewDeposit } from "../../ports/unit-of-work.ts";
import { statement } from "./pool.ts";
import type { Sql } from "./pool.ts";
import { DEPOSIT_COLUMNS, depositOf } from "./rows.ts";
import type { DepositRow } from "./rows.ts";

// A known deposit that stands canonical in the same block is left alone: no row comes back. Only whether oracles can attest it may be known better by now ($19: it is not).
const upsert = statement(
  "deposit_upsert",
  `insert into deposits as d (chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block,
     depositor, sender, currency, amount, order_id, request_id, disposition, reason, seen_at_ms, value_usd, depository, unattestable)
   values ($1, $2, $3, $4, $5, true, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
   on conflict (chain_id, tx_hash, currency, amount, depositor, sender, coalesce(order_id, ''), ordinal) do update
     set block_number = excluded.block_number, block_hash = excluded.block_hash, canonical = true,
         confirm_at_block = excluded.confirm_at_block, unattestable = excluded.unattestable
     where not d.canonical or d.block_hash <> excluded.block_hash or (d.unattestable <> excluded.unattestable and not $19::boolean)
   returning ${DEPOSIT_COLUMNS}`,
);
const byKey = statement(
  "deposit_by_key",
  `select ${DEPOSIT_COLUMNS} from deposits where chain_id = $1 and tx_hash = $2 and currency = $3 and amount = $4
     and depositor = $5 and sender = $6 and coalesce(order_id, '') = coalesce($7, '') and ordinal = $8`,
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
  "select coalesce(sum(unrepaid_usd), 0) as usd from deposits where unrepaid_at_ms > $1",
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
const removeOrphaned = statement(
  "deposit_remove_orphaned",
  // A release does not outlive the deposit that it was given for: one that returns is judged anew.
  `update deposits set canonical = false,
     refund_released_at_ms = case when refund_state in ('sent', 'final') then refund_released_at_ms end
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
    async upsert(deposit: NewDeposit): Promise<{ id: DepositId; changed: boolean; record: DepositRecord }> {
      const [row] = await sql.query<DepositRow>(upsert, [
        deposit.chainId,
        deposit.txHash,
        deposit.ordinal,
        deposit.blockNumber,
        deposit.blockHash,
        deposit.confirmAtBlock,
        deposit.depositor,
        deposit.sender,
        deposit.currency,
        deposit.amount,
        deposit.orderId ?? null,
        deposit.requestId ?? null,
        deposit.disposition,
        deposit.reason ?? null,
        deposit.seenAtMs,
        deposit.valueUsd,
        deposit.depository ?? null,
        deposit.isUnattestable === true,
        deposit.isAttestabilityUnknown === true,
      ]);
      if (row) return { id: String(row.id), changed: true, record: depositOf(row) };
      const [known] = await sql.query<DepositRow>(byKey, [
        deposit.chainId,
        deposit.txHash,
        deposit.currency,
        deposit.amount,
        deposit.depositor,
        deposit.sender,
        deposit.orderId ?? null,
        deposit.ordinal,
      ]);
      if (!known)
        throw new Error(`deposit ${deposit.txHash}/${deposit.ordinal} was neither inserted nor found`);
      return { id: String(known.id), changed: false, record: depositOf(known) };
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
    async setRefund(id, state, failReason): Promise<void> {
      await sql.query(setRefund, [id, state, failReason ?? null]);
    },
    async lockUnrepaid(sinceMs): Promise<bigint> {
      await sql.query(lockUnrepaid, []);
      const [row] = await sql.query<{ usd: bigint }>(unrepaidSince, [sinceMs]);
      return row?.usd ?? 0n;
    },
    async setUnrepaid(id, { usd, reason }, atMs): Promise<void> {
      await sql.query(setUnrepaid, [id, usd, reason, atMs]);
    },
    async refundedAndVanished({ requestId, chainId, depositor, currency }): Promise<DepositId | undefined> {
      if (requestId === undefined) return undefined;
      const values = [requestId, chainId, depositor, currency];
      const [row] = await sql.query<{ id: number }>(refundedAndVanished, values);
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
