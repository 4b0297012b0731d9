import type { OrderId, RequestId, TxHash } from "@causeway/domain";
import { eq, sql as text } from "drizzle-orm";
import type { PrunableTable } from "../db/prunable.port.ts";
import type { Reads } from "../db/reads.port.ts";
import { claims } from "../balances/claims.tables.ts";
import { outbox } from "../db/db.tables.ts";
import { defineQuery, defineSql, nullable, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { readByKey } from "../db/read-by-key.ts";
import { tickBatcher } from "../db/tick-batcher.ts";
import { idempotencyKeys } from "../http/idempotency.tables.ts";
import { requestTransactions } from "./history/history.tables.ts";
import { isLarge, largeEndedMs } from "./history/large-requests.postgres.ts";
import { REQUEST, requestOf } from "./request-rows.postgres.ts";
import { requests, routeTimings } from "./requests.tables.ts";
import { batchedStatusReads } from "./status-reads.postgres.ts";

const ping = defineQuery("read_ping", (db) =>
  db.select({ requestId: requests.requestId }).from(requests).limit(1),
);
const readByIds = defineQuery(
  "read_requests",
  (db, { requestIds }: Params<{ requestIds: readonly RequestId[] }>) =>
    db
      .select(REQUEST)
      .from(requests)
      .where(text`${requests.requestId} = any(${requestIds}::text[])`),
);
const readByOrders = defineQuery(
  "read_requests_by_orders",
  (db, { orderIds }: Params<{ orderIds: readonly OrderId[] }>) =>
    db
      .select(REQUEST)
      .from(requests)
      .where(text`${requests.orderId} = any(${orderIds})`),
);
const readStateSince = defineQuery(
  "read_state_since",
  (db, { requestId }: Params<{ requestId: RequestId }>) =>
    db
      .select({
        sinceMs: text<number>`coalesce(${requests.stateSinceMs}, ${requests.updatedAtMs})`.mapWith(Number),
      })
      .from(requests)
      .where(eq(requests.requestId, requestId)),
);
// A transaction that paid for several requests identifies none of them.
const readRequestsOfDeposits = defineSql(
  "read_requests_of_deposits",
  { txHash: requestTransactions.txHash, requestId: requestTransactions.requestId },
  ({ txHashes }: Params<{ txHashes: readonly TxHash[] }>) => text`
    select ${requestTransactions.txHash}, min(${requestTransactions.requestId}) as request_id from ${requestTransactions}
    where ${requestTransactions.txHash} = any(${txHashes}::text[]) and ${requestTransactions.kind} = 'deposit'
    group by ${requestTransactions.txHash} having min(${requestTransactions.requestId}) = max(${requestTransactions.requestId})`,
);
const readTimings = defineQuery("read_route_timings", (db) =>
  db
    .select({
      originChainId: routeTimings.originChainId,
      destinationChainId: routeTimings.destinationChainId,
      averageMs: routeTimings.averageMs,
      samples: routeTimings.samples,
    })
    .from(routeTimings),
);

const isPrunable = text`${requests.state} = 'expired' and not ${requests.kept}`;
const readOldestPrunable = defineSql(
  "read_oldest_prunable",
  { name: (name: PrunableTable) => name, sinceMs: nullable(Number) },
  () => text`
    select 'outbox' as name, min(${outbox.publishedAtMs}) as since_ms from ${outbox} where ${outbox.publishedAtMs} is not null
    union all select 'requests', min(${requests.fillDeadlineMs}) from ${requests} where ${isPrunable}
    union all select 'large_requests', min(${largeEndedMs}) from ${requests} where ${isPrunable} and ${isLarge}
    union all select 'idempotency_keys', min(${idempotencyKeys.createdAtMs}) from ${idempotencyKeys}
    union all select 'claims', min(${claims.expiresAt}) * 1000 from ${claims} where ${claims.state} = 'offered'`,
);

type RequestReads = Pick<
  Reads,
  | "ping"
  | "status"
  | "request"
  | "requestsByOrders"
  | "stateSinceMs"
  | "requestOfDeposit"
  | "routeTimings"
  | "oldestPrunable"
>;

export function requestReads(sql: Sql): RequestReads {
  return {
    async ping() {
      await ping(sql, {});
    },
    status: batchedStatusReads(sql),
    request: readByKey(
      async (requestIds) => (await readByIds(sql, { requestIds })).map(requestOf),
      ({ terms }) => terms.requestId,
    ),
    async requestsByOrders(orderIds) {
      if (orderIds.length === 0) return new Map();
      const rows = await readByOrders(sql, { orderIds });
      return new Map(rows.map((row) => [row.orderId, requestOf(row)]));
    },
    stateSinceMs: async (requestId) => (await readStateSince(sql, { requestId }))[0]?.sinceMs,
    requestOfDeposit: tickBatcher(
      async (txHashes: readonly TxHash[]) => {
        const rows = await readRequestsOfDeposits(sql, { txHashes });
        const byHash = new Map(rows.map((row) => [row.txHash, row.requestId]));
        return txHashes.map((txHash) => byHash.get(txHash));
      },
      { inFlight: 2, maxBatch: 500 },
    ),
    routeTimings: async () => await readTimings(sql, {}),
    async oldestPrunable() {
      const rows = await readOldestPrunable(sql, {});
      return rows.map(({ name, sinceMs }) => ({ table: name, sinceMs: sinceMs ?? undefined }));
    },
  };
}
