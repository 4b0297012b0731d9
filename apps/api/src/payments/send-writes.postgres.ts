import type { SendWrites } from "../db/unit-of-work.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const taken = statement(
  "send_taken",
  "select request_id, tx_hash from sends where (chain_id = $1 and tx_hash = $2) or request_id = $3",
);
const followedOf = statement(
  "send_reports_of_sender",
  "select count(*)::int as reports from send_reports where chain_id = $1 and sender = $2 and tx_hash <> $3",
);
const report = statement(
  "send_report",
  `insert into send_reports (chain_id, tx_hash, request_id, sender, created_at_ms) values ($1, $2, $3, $4, $5)
   on conflict do nothing`,
);
const forget = statement(
  "send_forget",
  "delete from send_reports where chain_id = $1 and tx_hash = $2 and request_id = $3",
);
// Either the transaction or the request may have been taken meanwhile.
const mine = statement(
  "send_mine",
  `insert into sends (chain_id, tx_hash, request_id, sender, created_at_ms, block_number, block_hash)
   values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning tx_hash`,
);
const unmine = statement(
  "send_unmine",
  `with gone as (delete from sends where chain_id = $1 and tx_hash = $2 and not settled returning *),
   reported as (insert into send_reports (chain_id, tx_hash, request_id, sender, created_at_ms)
     select chain_id, tx_hash, request_id, sender, $3 from gone on conflict do nothing)
   select tx_hash from gone`,
);
const settle = statement(
  "send_settle",
  "update sends set settled = true where chain_id = $1 and tx_hash = $2",
);

/** Same-chain payments inside one transaction. */
export function sendWrites(sql: Sql): SendWrites {
  return {
    async taken({ chainId, txHash, requestId }): Promise<"free" | "same" | "taken"> {
      const rows = await sql.query<{ request_id: string; tx_hash: string }>(taken, [
        chainId,
        txHash,
        requestId,
      ]);
      if (rows.length === 0) return "free";
      const isSame = rows.every((row) => row.request_id === requestId && row.tx_hash === txHash);
      return isSame ? "same" : "taken";
    },
    async followedOf({ chainId, sender, txHash }): Promise<number> {
      const [row] = await sql.query<{ reports: number }>(followedOf, [chainId, sender, txHash]);
      return row?.reports ?? 0;
    },
    async report(send): Promise<void> {
      const { chainId, txHash, requestId, sender, reportedAtMs } = send;
      await sql.query(report, [chainId, txHash, requestId, sender, reportedAtMs]);
    },
    async forget({ chainId, txHash, requestId }): Promise<void> {
      await sql.query(forget, [chainId, txHash, requestId]);
    },
    async mine(send, block): Promise<boolean> {
      const { chainId, txHash, requestId, sender, reportedAtMs } = send;
      await sql.query(forget, [chainId, txHash, requestId]);
      const values = [chainId, txHash, requestId, sender, reportedAtMs, block.number, block.hash];
      return (await sql.query(mine, values)).length > 0;
    },
    async unmine({ chainId, txHash }, atMs): Promise<boolean> {
      return (await sql.query(unmine, [chainId, txHash, atMs])).length > 0;
    },
    async settle({ chainId, txHash }): Promise<void> {
      await sql.query(settle, [chainId, txHash]);
    },
  };
}
