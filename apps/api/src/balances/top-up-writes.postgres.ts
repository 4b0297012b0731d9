import type { Address, Hex, TxHash } from "@causeway/domain";
import type { NewTopUp, TopUpRecord, TopUpState, TopUpWrites } from "./top-ups.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

export const TOP_UP_COLUMNS =
  "id, chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block, sender, wallet, currency, amount, state, credits, seen_at_ms";

// One that stands canonical in the same block is left alone: no row comes back.
const upsert = statement(
  "top_up_upsert",
  `insert into app_top_ups as t (chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block,
     sender, wallet, currency, amount, state, seen_at_ms)
   values ($1, $2, $3, $4, $5, true, $6, $7, $8, $9, $10, $11, $12)
   on conflict (chain_id, tx_hash, currency, amount, sender, coalesce(wallet, ''), ordinal) do update
     set block_number = excluded.block_number, block_hash = excluded.block_hash, canonical = true,
         confirm_at_block = excluded.confirm_at_block
     where not t.canonical or t.block_hash <> excluded.block_hash
   returning ${TOP_UP_COLUMNS}`,
);
// In one order everywhere: whoever is credited is locked next.
const removeOrphaned = statement(
  "top_up_remove_orphaned",
  `with gone as (
     update app_top_ups set canonical = false
     where chain_id = $1 and block_number > $2 and block_number <= $3 and canonical and block_hash <> all($4::text[])
     returning ${TOP_UP_COLUMNS}
   ) select * from gone order by wallet, id`,
);
const lockDue = statement(
  "top_up_lock_due",
  `select ${TOP_UP_COLUMNS} from app_top_ups
   where chain_id = $1 and state = 'seen' and canonical and confirm_at_block <= $2
   order by wallet, id for update`,
);
const setState = statement(
  "top_up_set_state",
  "update app_top_ups set state = $2, credits = $3 where id = $1",
);

export interface TopUpRow {
  id: number;
  chain_id: number;
  tx_hash: string;
  ordinal: number;
  block_number: number;
  block_hash: string;
  canonical: boolean;
  confirm_at_block: number;
  sender: string;
  wallet: string | null;
  currency: string;
  amount: bigint;
  state: string;
  credits: number;
  seen_at_ms: number;
}

/** Top-ups inside one transaction. */
export function topUpWrites(sql: Sql): TopUpWrites {
  return {
    async upsert(topUp: NewTopUp) {
      const [row] = await sql.query<TopUpRow>(upsert, [
        topUp.chainId,
        topUp.txHash,
        topUp.ordinal,
        topUp.blockNumber,
        topUp.blockHash,
        topUp.confirmAtBlock,
        topUp.sender,
        topUp.wallet ?? null,
        topUp.currency,
        topUp.amount,
        topUp.state,
        topUp.seenAtMs,
      ]);
      return row && topUpOf(row);
    },
    async removeOrphaned(chainId, aboveBlock, upToBlock, canonicalHashes) {
      const values = [chainId, aboveBlock, upToBlock, canonicalHashes];
      return (await sql.query<TopUpRow>(removeOrphaned, values)).map(topUpOf);
    },
    async lockDue(chainId, headNumber) {
      return (await sql.query<TopUpRow>(lockDue, [chainId, headNumber])).map(topUpOf);
    },
    async setState(id, state, credits) {
      await sql.query(setState, [id, state, credits]);
    },
  };
}

export function topUpOf(row: TopUpRow): TopUpRecord {
  return {
    id: String(row.id),
    chainId: row.chain_id,
    txHash: row.tx_hash as TxHash,
    ordinal: row.ordinal,
    blockNumber: BigInt(row.block_number),
    blockHash: row.block_hash as Hex,
    canonical: row.canonical,
    confirmAtBlock: BigInt(row.confirm_at_block),
    sender: row.sender as Address,
    wallet: (row.wallet as Address | null) ?? undefined,
    currency: row.currency as Address,
    amount: row.amount,
    state: row.state as TopUpState,
    credits: row.credits,
    seenAtMs: row.seen_at_ms,
  };
}
