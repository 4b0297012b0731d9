import type { DepositId, RequestId, TxHash } from "@causeway/domain";
import { asc, eq, sql as text, type SQL } from "drizzle-orm";
import type { Reads } from "../db/reads.port.ts";
import { defineQuery, defineSql, type Params } from "../db/define-query.postgres.ts";
import { lostJob } from "../db/job-runs.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { readByKey } from "../db/read-by-key.ts";
import { requests } from "../requests/requests.tables.ts";
import { DEPOSIT, depositOf } from "./deposit-rows.postgres.ts";
import { findUnrecorded } from "./deposit-writes.postgres.ts";
import { deposits, originTransactions } from "./deposits.tables.ts";

const byIds = defineQuery("read_deposits", (db, { ids }: Params<{ ids: readonly DepositId[] }>) =>
  db
    .select(DEPOSIT)
    .from(deposits)
    .where(text`${deposits.id} = any(${ids}::bigint[])`),
);
interface Overdue extends Record<string, unknown> {
  readonly sinceBeforeMs: number;
  readonly nowMs: number;
  readonly limit: number;
}
const overdueRefunds = defineSql("read_overdue_refunds", { id: deposits.id }, (p: Params<Overdue>) => {
  const lost = lostJob("refund", text`${deposits.id}::text`, text`${deposits.seenAtMs}`, p.nowMs);
  // Refunds that wait for room in the daily limit come last, so that they do not delay others.
  return text`select ${deposits.id} from ${deposits} ${lost.join}
    where ${deposits.disposition} = 'refund' and ${deposits.refundState} = 'none' and ${deposits.canonical}
      and ${deposits.seenAtMs} < ${p.sinceBeforeMs} and ${lost.isLost}
    order by ${deposits.refundWaits} is not null, ${lost.order}, ${deposits.id} limit ${p.limit}`;
});

const isOpen = ({ chainId }: Params<{ chainId: number }>): SQL => text`
  ${deposits.chainId} = ${chainId} and ${deposits.disposition} = 'unattributed' and ${deposits.requestId} is null
  and ${deposits.canonical} and ${deposits.refundState} = 'none' and ${deposits.refundWaits} is null`;
const isOrderKnown = text`exists (select from ${requests} where ${requests.orderId} = ${deposits.orderId})`;
const attributable = defineQuery(
  "read_attributable_deposits",
  (db, p: Params<{ chainId: number; after: DepositId | 0; limit: number }>) =>
    db
      .select(DEPOSIT)
      .from(deposits)
      .where(text`${isOpen(p)} and ${isOrderKnown} and ${deposits.id} > ${p.after}`)
      .orderBy(asc(deposits.id))
      .limit(text.placeholder("limit")),
);
const unattributed = defineQuery(
  "read_unattributed_deposits",
  (db, p: Params<{ chainId: number; seenUpToMs: number; upToBlock: bigint; limit: number }>) =>
    db
      .select(DEPOSIT)
      .from(deposits)
      .where(
        text`${isOpen(p)} and not ${isOrderKnown} and ${deposits.seenAtMs} <= ${p.seenUpToMs}
          and ${deposits.blockNumber} <= ${p.upToBlock}`,
      )
      .orderBy(asc(deposits.seenAtMs))
      .limit(text.placeholder("limit")),
);
const hasWithoutRequest = defineSql(
  "read_unasked_deposits",
  { found: Boolean },
  (p: Params<{ chainId: number; txHash: TxHash }>) => text`select exists (select from ${deposits}
    where ${deposits.chainId} = ${p.chainId} and ${deposits.txHash} = ${p.txHash} and ${deposits.requestId} is null) as found`,
);
const withoutRequest = defineQuery(
  "read_unasked_deposits_of",
  (db, p: Params<{ chainIds: readonly number[]; txHashes: readonly TxHash[] }>) =>
    db
      .select(DEPOSIT)
      .from(deposits)
      .where(
        text`${deposits.chainId} = any(${p.chainIds}::bigint[]) and ${deposits.txHash} = any(${p.txHashes}::text[])
          and ${deposits.requestId} is null and ${deposits.canonical} and ${deposits.mappingUntilMs} is null`,
      )
      .orderBy(asc(deposits.id))
      .limit(20),
);
const reported = defineQuery("read_origin_transactions", (db, p: Params<{ requestId: RequestId }>) =>
  db
    .select({ txHash: originTransactions.txHash })
    .from(originTransactions)
    .where(eq(originTransactions.requestId, p.requestId))
    .orderBy(asc(originTransactions.reportedAtMs), asc(originTransactions.txHash))
    .limit(10),
);

type DepositReads = Pick<
  Reads,
  | "deposit"
  | "overdueRefunds"
  | "attributableDeposits"
  | "unattributedDeposits"
  | "depositsWithoutRequest"
  | "hasDepositsWithoutRequest"
  | "originTransactions"
  | "areRecorded"
>;

/** Deposits, on a Postgres pool. */
export function depositReads(sql: Sql): DepositReads {
  return {
    deposit: readByKey(
      async (ids) => (await byIds(sql, { ids })).map(depositOf),
      ({ id }) => id,
    ),
    async overdueRefunds({ sinceBeforeMs, nowMs }, limit) {
      return (await overdueRefunds(sql, { sinceBeforeMs, nowMs, limit })).map(({ id }) => String(id));
    },
    attributableDeposits: async (chainId, after, limit) =>
      (await attributable(sql, { chainId, after: after ?? 0, limit })).map(depositOf),
    unattributedDeposits: async (chainId, { seenUpToMs, upToBlock, limit }) =>
      (await unattributed(sql, { chainId, seenUpToMs, upToBlock, limit })).map(depositOf),
    depositsWithoutRequest: async (chainIds, txHashes) =>
      (await withoutRequest(sql, { chainIds, txHashes })).map(depositOf),
    hasDepositsWithoutRequest: async (chainId, txHash) =>
      (await hasWithoutRequest(sql, { chainId, txHash }))[0]?.found === true,
    originTransactions: async (requestId) => (await reported(sql, { requestId })).map(({ txHash }) => txHash),
    areRecorded: async (chainId, sightings) => (await findUnrecorded(sql, chainId, sightings)).length === 0,
  };
}
