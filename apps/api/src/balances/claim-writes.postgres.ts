import type { Address, Hex, TxHash } from "@causeway/domain";
import type { ClaimRecord, ClaimState, ClaimWrites } from "./claims.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

export const CLAIM_COLUMNS =
  "claim_id, wallet, chain_id, currency, recipient, amount, fee_amount, expires_at, state, tries, tx_hash, fail_reason, created_at_ms";

const offer = statement(
  "claim_offer",
  `insert into claims (claim_id, wallet, chain_id, currency, recipient, amount, fee_amount, expires_at, created_at_ms, updated_at_ms)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
);
const walletOf = statement("claim_wallet", "select wallet from claims where claim_id = $1");
const lock = statement("claim_lock", `select ${CLAIM_COLUMNS} from claims where claim_id = $1 for update`);
const setState = statement(
  "claim_set_state",
  "update claims set state = $2, tries = $3, fail_reason = $4, updated_at_ms = $5 where claim_id = $1",
);
const setTxHash = statement(
  "claim_set_tx_hash",
  "update claims set tx_hash = $2, updated_at_ms = $3 where claim_id = $1",
);
const prune = statement(
  "claim_prune",
  `with gone as (
     delete from claims where claim_id in (select claim_id from claims where state = 'offered' and expires_at < $1 limit $2)
     returning 1
   ) select count(*) as n from gone`,
);

export interface ClaimRow {
  claim_id: string;
  wallet: string;
  chain_id: number;
  currency: string;
  recipient: string;
  amount: bigint;
  fee_amount: bigint;
  expires_at: number;
  state: string;
  tries: number;
  tx_hash: string | null;
  fail_reason: string | null;
  created_at_ms: number;
}

/** Claims inside one transaction. */
export function claimWrites(sql: Sql): ClaimWrites {
  return {
    async offer(claim) {
      await sql.query(offer, [
        claim.claimId,
        claim.wallet,
        claim.chainId,
        claim.currency,
        claim.recipient,
        claim.amount,
        claim.feeAmount,
        claim.expiresAt,
        claim.createdAtMs,
      ]);
    },
    async walletOf(claimId) {
      const [row] = await sql.query<{ wallet: string }>(walletOf, [claimId]);
      return row?.wallet as Address | undefined;
    },
    async lock(claimId) {
      const [row] = await sql.query<ClaimRow>(lock, [claimId]);
      return row && claimOf(row);
    },
    async setState(claimId, { state, tries, failReason }, atMs) {
      await sql.query(setState, [claimId, state, tries, failReason ?? null, atMs]);
    },
    async setTxHash(claimId, txHash, atMs) {
      await sql.query(setTxHash, [claimId, txHash ?? null, atMs]);
    },
    async prune(beforeSeconds, limit) {
      const [row] = await sql.query<{ n: number }>(prune, [beforeSeconds, limit]);
      return row?.n ?? 0;
    },
  };
}

export function claimOf(row: ClaimRow): ClaimRecord {
  return {
    claimId: row.claim_id as Hex,
    wallet: row.wallet as Address,
    chainId: row.chain_id,
    currency: row.currency as Address,
    recipient: row.recipient as Address,
    amount: row.amount,
    feeAmount: row.fee_amount,
    expiresAt: row.expires_at,
    state: row.state as ClaimState,
    tries: row.tries,
    txHash: (row.tx_hash as TxHash | null) ?? undefined,
    failReason: row.fail_reason ?? undefined,
    createdAtMs: row.created_at_ms,
  };
}
