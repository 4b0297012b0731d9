import { sql as text } from "drizzle-orm";
import type { SendReads } from "../db/reads.port.ts";
import { columnsOf, defineSql, namesOf, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { chainBlocks } from "../deposits/deposits.tables.ts";
import { SEND, sendOf } from "./send-rows.postgres.ts";
import { sendReports, sends } from "./sends.tables.ts";

const { chainId, txHash, requestId, sender, createdAtMs } = sendReports;
const REPORT = text`${namesOf(chainId, txHash, requestId, sender, createdAtMs)}, null as block_number, null as block_hash`;

const reports = defineSql(
  "read_send_reports",
  SEND,
  (p: Params<{ chainId: number; afterMs: number; txHash: string; requestId: string; limit: number }>) => text`
    select ${REPORT} from ${sendReports}
    where ${chainId} = ${p.chainId} and (${createdAtMs}, ${txHash}, ${requestId}) > (${p.afterMs}, ${p.txHash}, ${p.requestId})
    order by ${createdAtMs}, ${txHash}, ${requestId} limit ${p.limit}`,
);
const freshReports = defineSql(
  "read_fresh_send_reports",
  SEND,
  (p: Params<{ chainId: number; sinceMs: number; ofRequest: number; ofChain: number }>) => text`
    select ${REPORT} from (
      select *, row_number() over (partition by ${requestId} order by ${createdAtMs} desc, ${txHash}) as of_request,
        row_number() over (partition by ${sender} order by ${createdAtMs} desc, ${txHash}) as of_sender
      from ${sendReports} where ${chainId} = ${p.chainId} and ${createdAtMs} > ${p.sinceMs}) as ${sendReports}
    where of_request <= ${p.ofRequest} order by of_sender, ${createdAtMs} desc, ${txHash} limit ${p.ofChain}`,
);
const due = defineSql(
  "read_due_sends",
  { ...SEND, isOrphaned: Boolean },
  (p: Params<{ chainId: number; head: bigint; final: bigint; limit: number }>) => text`
    select * from (select ${columnsOf(SEND)}, (${sends.blockNumber} > ${p.head} or exists (select from ${chainBlocks}
        where ${chainBlocks.chainId} = ${sends.chainId} and ${chainBlocks.number} = ${sends.blockNumber}
          and ${chainBlocks.hash} <> ${sends.blockHash})) as is_orphaned
      from ${sends} where ${sends.chainId} = ${p.chainId} and not ${sends.settled}) as unsettled
    where is_orphaned or block_number <= ${p.final} order by block_number, tx_hash limit ${p.limit}`,
);

/** Reads followed same-chain payments, page by page. */
export function sendReads(sql: Sql): SendReads {
  return {
    async sendReports(ofChain, after, limit) {
      const rows = await reports(sql, {
        chainId: ofChain,
        afterMs: after?.reportedAtMs ?? -1,
        txHash: after?.txHash ?? "",
        requestId: after?.requestId ?? "",
        limit,
      });
      return rows.map(sendOf);
    },
    freshSendReports: async (reportedOn, sinceMs, { ofRequest, ofChain }) =>
      (await freshReports(sql, { chainId: reportedOn, sinceMs, ofRequest, ofChain })).map(sendOf),
    async dueSends(ofChain, { head, final }, limit) {
      const rows = await due(sql, { chainId: ofChain, head, final, limit });
      return rows.map(({ isOrphaned: isGone, ...row }) => ({ send: sendOf(row), isOrphaned: isGone }));
    },
  };
}
