import type { SendReads } from "../db/reads.port.ts";
import { sendOf, SEND_COLUMNS } from "../requests/rows.postgres.ts";
import type { SendRow } from "../requests/rows.postgres.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const reports = statement(
  "read_send_reports",
  `select chain_id, tx_hash, request_id, sender, null as block_number, null as block_hash, created_at_ms from send_reports
   where chain_id = $1 and (created_at_ms, tx_hash, request_id) > ($2, $3, $4)
   order by created_at_ms, tx_hash, request_id limit $5`,
);
const freshReports = statement(
  "read_fresh_send_reports",
  `select chain_id, tx_hash, request_id, sender, null as block_number, null as block_hash, created_at_ms from (
     select *, row_number() over (partition by request_id order by created_at_ms desc, tx_hash) as of_request,
       row_number() over (partition by sender order by created_at_ms desc, tx_hash) as of_sender
     from send_reports where chain_id = $1 and created_at_ms > $2) r
   where of_request <= $3 order by of_sender, created_at_ms desc, tx_hash limit $4`,
);
const orphaned = statement(
  "read_orphaned_sends",
  `select ${SEND_COLUMNS} from sends s where s.chain_id = $1 and not s.settled and (s.block_number > $2
     or exists (select from chain_blocks b where b.chain_id = s.chain_id and b.number = s.block_number and b.hash <> s.block_hash))
   order by s.block_number limit $3`,
);
const due = statement(
  "read_due_sends",
  `select ${SEND_COLUMNS} from sends s where s.chain_id = $1 and not s.settled and s.block_number <= $2
   order by s.block_number, s.tx_hash limit $3`,
);

/** Same-chain payments that are followed, page by page. */
export function sendReads(sql: Sql): SendReads {
  return {
    async sendReports(chainId, after, limit) {
      const from = after && [after.reportedAtMs, after.txHash, after.requestId];
      const values = [chainId, ...(from ?? [-1, "", ""]), limit];
      return (await sql.query<SendRow>(reports, values)).map(sendOf);
    },
    async freshSendReports(chainId, sinceMs, { ofRequest, ofChain }) {
      return (await sql.query<SendRow>(freshReports, [chainId, sinceMs, ofRequest, ofChain])).map(sendOf);
    },
    async orphanedSends(chainId, headNumber, limit) {
      return (await sql.query<SendRow>(orphaned, [chainId, headNumber, limit])).map(sendOf);
    },
    async dueSends(chainId, finalBlock, limit) {
      return (await sql.query<SendRow>(due, [chainId, finalBlock, limit])).map(sendOf);
    },
  };
}
