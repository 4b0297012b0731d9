import type { SendWrites } from "../../ports/unit-of-work.ts";
import { statement } from "./pool.ts";
import type { Sql } from "./pool.ts";

const insert = statement(
  "send_insert",
  `insert into sends (chain_id, tx_hash, request_id, created_at_ms) values ($1, $2, $3, $4)
   on conflict do nothing returning request_id`,
);
// A wallet that speeds a payment up gives it another hash: an unmined report gives way to a newer one.
const forgetUnmined = statement(
  "send_forget_unmined",
  "delete from sends where request_id = $1 and tx_hash <> $2 and block_number is null",
);
const existing = statement(
  "send_existing",
  "select request_id from sends where chain_id = $1 and tx_hash = $2",
);
const setBlock = statement(
  "send_set_block",
  "update sends set block_number = $3, block_hash = $4 where chain_id = $1 and tx_hash = $2",
);
const settle = statement(
  "send_settle",
  "update sends set settled = true where chain_id = $1 and tx_hash = $2",
);
const remove = statement("send_remove", "delete from sends where chain_id = $1 and tx_hash = $2");

/** Same-chain payments inside one transaction. */
export function sendWrites(sql: Sql): SendWrites {
  return {
    async insert(send): Promise<boolean> {
      await sql.query(forgetUnmined, [send.requestId, send.txHash]);
      const rows = await sql.query(insert, [send.chainId, send.txHash, send.requestId, send.reportedAtMs]);
      if (rows.length > 0) return true;
      const [known] = await sql.query<{ request_id: string }>(existing, [send.chainId, send.txHash]);
      return known?.request_id === send.requestId;
    },
    async setBlock(chainId, txHash, block): Promise<void> {
      await sql.query(setBlock, [chainId, txHash, block?.number ?? null, block?.hash ?? null]);
    },
    async settle(chainId, txHash): Promise<void> {
      await sql.query(settle, [chainId, txHash]);
    },
    async remove(chainId, txHash): Promise<void> {
      await sql.query(remove, [chainId, txHash]);
    },
  };
}
