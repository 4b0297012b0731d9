import type { Address, Hex, RequestId, TxHash } from "@causeway/domain";
import { and, eq, sql as text } from "drizzle-orm";
import type { SendWrites } from "../db/unit-of-work.port.ts";
import {
  defineQuery,
  defineSql,
  nameOf,
  namesOf,
  type Params,
  defineWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { sendReports, sends } from "./sends.tables.ts";

interface Transaction extends Record<string, unknown> {
  readonly chainId: number;
  readonly txHash: TxHash;
}
interface Report extends Transaction {
  readonly requestId: RequestId;
}
interface SignedReport extends Report {
  readonly sender: Address;
  readonly createdAtMs: number;
}
const assigned = defineQuery("send_taken", (db, p: Params<Report>) =>
  db
    .select({ requestId: sends.requestId, txHash: sends.txHash })
    .from(sends)
    .where(
      text`(${sends.chainId} = ${p.chainId} and ${sends.txHash} = ${p.txHash}) or ${sends.requestId} = ${p.requestId}`,
    ),
);
const followedOf = defineSql(
  "send_reports_of_sender",
  { reports: Number },
  (p: Params<Transaction & { readonly sender: Address }>) => text`
    select count(*) as reports from ${sendReports}
    where ${sendReports.chainId} = ${p.chainId} and ${sendReports.sender} = ${p.sender} and ${sendReports.txHash} <> ${p.txHash}`,
);
const report = defineWrite(
  "send_report",
  (db, { chainId, txHash, requestId, sender, createdAtMs }: Params<SignedReport>) =>
    db.insert(sendReports).values({ chainId, txHash, requestId, sender, createdAtMs }).onConflictDoNothing(),
);
const forget = defineWrite("send_forget", (db, p: Params<Report>) =>
  db
    .delete(sendReports)
    .where(
      and(
        eq(sendReports.chainId, p.chainId),
        eq(sendReports.txHash, p.txHash),
        eq(sendReports.requestId, p.requestId),
      ),
    ),
);
interface Mined extends SignedReport {
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}
// Another process may have stored the transaction or the request by now.
const mine = defineQuery(
  "send_mine",
  (db, { chainId, txHash, requestId, sender, createdAtMs, blockNumber, blockHash }: Params<Mined>) =>
    db
      .insert(sends)
      .values({ chainId, txHash, requestId, sender, createdAtMs, blockNumber, blockHash })
      .onConflictDoNothing()
      .returning({ txHash: sends.txHash }),
);
const unmine = defineSql(
  "send_unmine",
  { txHash: sends.txHash },
  (p: Params<Transaction & { readonly atMs: number }>) => {
    const { chainId, txHash, requestId, sender, createdAtMs } = sendReports;
    return text`
      with gone as (delete from ${sends} where ${sends.chainId} = ${p.chainId} and ${sends.txHash} = ${p.txHash}
        and not ${sends.settled} returning ${sends}.*),
      reported as (insert into ${sendReports} (${namesOf(chainId, txHash, requestId, sender, createdAtMs)})
        select ${nameOf(sends.chainId)}, ${nameOf(sends.txHash)}, ${nameOf(sends.requestId)}, ${nameOf(sends.sender)}, ${p.atMs}::bigint
        from gone on conflict do nothing)
      select ${nameOf(sends.txHash)} from gone`;
  },
);
const settle = defineWrite("send_settle", (db, p: Params<Transaction>) =>
  db
    .update(sends)
    .set({ settled: true })
    .where(and(eq(sends.chainId, p.chainId), eq(sends.txHash, p.txHash))),
);

/** Same-chain payments inside one transaction. */
export function sendWrites(sql: Sql): SendWrites {
  return {
    async assignmentOf({ chainId, txHash, requestId }): Promise<"free" | "same" | "assigned"> {
      const rows = await assigned(sql, { chainId, txHash, requestId });
      if (rows.length === 0) return "free";
      const isSame = rows.every((row) => row.requestId === requestId && row.txHash === txHash);
      return isSame ? "same" : "assigned";
    },
    async countTracked({ chainId, sender, txHash }): Promise<number> {
      return (await followedOf(sql, { chainId, sender, txHash }))[0]?.reports ?? 0;
    },
    async report({ chainId, txHash, requestId, sender, reportedAtMs }): Promise<void> {
      await report(sql, { chainId, txHash, requestId, sender, createdAtMs: reportedAtMs });
    },
    async forget({ chainId, txHash, requestId }): Promise<void> {
      await forget(sql, { chainId, txHash, requestId });
    },
    async mine({ chainId, txHash, requestId, sender, reportedAtMs }, block): Promise<boolean> {
      await forget(sql, { chainId, txHash, requestId });
      const rows = await mine(sql, {
        chainId,
        txHash,
        requestId,
        sender,
        createdAtMs: reportedAtMs,
        blockNumber: block.number,
        blockHash: block.hash,
      });
      return rows.length > 0;
    },
    async unmine({ chainId, txHash }, atMs): Promise<boolean> {
      return (await unmine(sql, { chainId, txHash, atMs })).length > 0;
    },
    async settle({ chainId, txHash }): Promise<void> {
      await settle(sql, { chainId, txHash });
    },
  };
}
