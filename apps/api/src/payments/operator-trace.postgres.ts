import { sql as text } from "drizzle-orm";
import { defineSql, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { deposits } from "../deposits/deposits.tables.ts";
import { archiveRequests, archives } from "../reconcile/archive/archive.tables.ts";
import { requestEvents, requests } from "../requests/requests.tables.ts";
import { hubExecutions, settlements } from "../settlement/settlement.tables.ts";
import { attempts, slots } from "./payments.tables.ts";

interface RequestParam extends Record<string, unknown> {
  readonly requestId: string;
}
const storedRequest = defineSql(
  "operator_known_request",
  {},
  (p: Params<RequestParam>) => text`select 1 from ${requests} where ${requests.requestId} = ${p.requestId}`,
);

const trace = defineSql(
  "operator_trace",
  { atMs: requestEvents.atMs, about: String, event: String, detail: requestEvents.detail },
  (p: Params<RequestParam>) => text`
    select ${requestEvents.atMs} as at_ms, 'request' as about, ${requestEvents.event} as event, ${requestEvents.detail} as detail
    from ${requestEvents} where ${requestEvents.requestId} = ${p.requestId}
    union all
    select ${attempts.createdAtMs}, 'transaction', 'signed ' || ${attempts.kind},
      json_build_object('chainId', ${slots.chainId}, 'nonce', ${slots.nonce}, 'leg', ${slots.legKind}, 'attempt', ${attempts.n},
        'txHash', ${attempts.txHash}, 'maxFeePerGas', ${attempts.maxFeePerGas}::text,
        'firstBroadcastAtMs', ${attempts.firstBroadcastAtMs}, 'slot', ${slots.state}, 'minedBlock', ${slots.minedBlockNumber},
        'gasUsed', ${slots.gasUsed}::text, 'deadReason', ${slots.deadReason})::text
    from ${slots} join ${attempts} on ${attempts.slotId} = ${slots.id} where ${slots.requestId} = ${p.requestId}
    union all
    select ${deposits.seenAtMs}, 'deposit', ${deposits.disposition},
      json_build_object('chainId', ${deposits.chainId}, 'txHash', ${deposits.txHash}, 'currency', ${deposits.currency},
        'amount', ${deposits.amount}::text, 'depositor', ${deposits.depositor}, 'sender', ${deposits.sender},
        'block', ${deposits.blockNumber}, 'canonical', ${deposits.canonical}, 'reason', ${deposits.reason},
        'refund', ${deposits.refundState})::text
    from ${deposits} where ${deposits.requestId} = ${p.requestId}
    union all
    select ${hubExecutions.createdAtMs}, 'hub', 'execution of the ' || ${hubExecutions.kind} || ' ' || ${hubExecutions.state},
      json_build_object('idempotencyKey', ${hubExecutions.idempotencyKey}, 'settledAtMs', ${hubExecutions.settledAtMs},
        'reason', ${hubExecutions.reason}, 'txHash', (select ${attempts.txHash} from ${attempts}
          where ${attempts.slotId} = ${hubExecutions.slotId} order by ${attempts.n} desc limit 1))::text
    from ${settlements} join ${hubExecutions} on ${hubExecutions.idempotencyKey} in (${settlements.depositKey}, ${settlements.paymentKey})
    where ${settlements.requestId} = ${p.requestId}
    union all
    select (extract(epoch from (m.month || '-01')::timestamp + interval '1 month') * 1000)::bigint - 1, 'archive',
      'events of ' || m.month || ' were archived',
      json_build_object('folders', (select json_agg(${archives.folder} order by ${archives.part}) from ${archives}
        where ${archives.month} = m.month and ${archives.folder} is not null))::text
    from (
      select unnest(${requests.archivedMonths}) as month from ${requests} where ${requests.requestId} = ${p.requestId}
      -- The archive removes the events of a month at once, and marks its requests afterwards.
      union select ${archives.month} from ${archives} join ${archiveRequests}
        on ${archiveRequests.requestId} = ${p.requestId} and ${archiveRequests.hasEvents}
      where ${archives.state} = 'exported' and not exists (
        select from ${requestEvents} where ${requestEvents.requestId} = ${p.requestId}
          and to_char(to_timestamp(${requestEvents.atMs} / 1000) at time zone 'utc', 'YYYY-MM') = ${archives.month})) m
    order by 1`,
);

/** Whether a request of this id is stored. */
export async function isKnownRequest(sql: Sql, requestId: string): Promise<boolean> {
  return (await storedRequest(sql, { requestId })).length > 0;
}

/** The history of one request: observations, decisions and signed transactions, in time order. */
export async function traceOf(sql: Sql, requestId: string): Promise<object[] | undefined> {
  const rows = await trace(sql, { requestId });
  if (rows.length === 0 && !(await isKnownRequest(sql, requestId))) return undefined;
  return rows.map(({ atMs, about, event, detail }) => ({
    at: new Date(atMs).toISOString(),
    about,
    event,
    ...detail,
  }));
}
