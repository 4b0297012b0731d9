import type { Address, DepositId, Hex } from "@causeway/domain";
import type { RailReads, RailWrites } from "../chains/rails.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { DEPOSIT_COLUMNS, depositOf } from "../requests/rows.postgres.ts";
import type { DepositRow } from "../requests/rows.postgres.ts";

const cursor = statement("rail_cursor", "select cursor from rail_cursors where chain_id = $1");
// Those first of which something was said here: the others are anybody's, and may be very many.
const unmapped = statement(
  "rail_unmapped",
  `select ${DEPOSIT_COLUMNS}, wallet_nonce, mapping_until_ms from deposits
   where chain_id = $1 and mapping_until_ms is not null
   order by exists (select from nonce_mappings m where m.chain_id = deposits.chain_id and m.wallet = deposits.sender and m.nonce = deposits.wallet_nonce) desc,
     id limit $2`,
);
// Before the first cursor there is no row to lock.
const lockChain = statement(
  "rail_lock",
  "select pg_advisory_xact_lock(hashtextextended('causeway:rail cursor ' || $1::text, 0))",
);
const setCursor = statement(
  "rail_cursor_set",
  `insert into rail_cursors (chain_id, cursor, block_number, block_hash, block_seconds) values ($1, $2, $3, $4, $5)
   on conflict (chain_id) do update set cursor = excluded.cursor, block_number = excluded.block_number,
     block_hash = excluded.block_hash, block_seconds = excluded.block_seconds`,
);
const known = statement(
  "rail_deposit_known",
  "select from deposits where chain_id = $1 and tx_hash = $2 and sender = $3 and wallet_nonce = $4 and ordinal = $5",
);
const noteNonce = statement(
  "rail_deposit_nonce",
  "update deposits set wallet_nonce = $2, mapping_until_ms = $3 where id = $1",
);
const lockUnmapped = statement(
  "rail_lock_unmapped",
  `select ${DEPOSIT_COLUMNS} from deposits where id = $1 and mapping_until_ms is not null and disposition = 'unattributed' for update`,
);
const endWaiting = statement(
  "rail_end_waiting",
  `update deposits set mapping_until_ms = null, order_id = coalesce($2, order_id), depositor = coalesce($3, depositor),
     request_id = coalesce($4, request_id), value_usd = coalesce($5, value_usd) where id = $1`,
);
const unsettled = statement(
  "rail_unsettled_attempts",
  `select a.tx_hash from slots s join attempts a on a.slot_id = s.id
   where s.chain_id = $1 and s.sender = $2 and s.state in ('open', 'mined') and s.id <> $3`,
);
const rename = statement(
  "rail_rename_attempt",
  "update attempts set tx_hash = $3 where slot_id = $1 and n = $2",
);

/** What is remembered of rails, on a Postgres pool. */
export function railReads(sql: Sql): RailReads {
  return {
    async railCursor(chainId) {
      return (await sql.query<{ cursor: string }>(cursor, [chainId]))[0]?.cursor;
    },
    async unmappedDeposits(chainId, limit) {
      const rows = await sql.query<DepositRow & { wallet_nonce: bigint; mapping_until_ms: number }>(
        unmapped,
        [chainId, limit],
      );
      return rows.map((row) => ({
        deposit: depositOf(row),
        nonce: row.wallet_nonce,
        untilMs: row.mapping_until_ms,
      }));
    },
  };
}

/** The same inside one transaction. */
export function railWrites(sql: Sql): RailWrites {
  return {
    async lockCursor(chainId) {
      await sql.query(lockChain, [chainId]);
      return (await sql.query<{ cursor: string }>(cursor, [chainId]))[0]?.cursor;
    },
    async setCursor(chainId, next, { number, hash, timestamp }) {
      await sql.query(setCursor, [chainId, next, number, hash, timestamp]);
    },
    async isKnown({ chainId, txHash, sender, nonce, ordinal }) {
      return (await sql.query(known, [chainId, txHash, sender, nonce, ordinal])).length > 0;
    },
    async noteNonce(id, nonce, untilMs) {
      await sql.query(noteNonce, [id, nonce, untilMs ?? null]);
    },
    async lockUnmapped(id: DepositId) {
      const [row] = await sql.query<DepositRow>(lockUnmapped, [id]);
      return row && depositOf(row);
    },
    async endWaiting(id, named) {
      const { orderId, depositor, requestId, valueUsd } = named ?? {};
      await sql.query(endWaiting, [
        id,
        orderId ?? null,
        depositor ?? null,
        requestId ?? null,
        valueUsd ?? null,
      ]);
    },
    async unsettledAttempts(chainId: number, sender: Address, exceptSlotId: string) {
      const rows = await sql.query<{ tx_hash: string }>(unsettled, [chainId, sender, exceptSlotId]);
      return rows.map((row) => row.tx_hash as Hex);
    },
    async renameAttempt(slotId, n, txHash) {
      await sql.query(rename, [slotId, n, txHash]);
    },
  };
}
