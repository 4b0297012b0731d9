import { publicStatus, requestStates } from "@causeway/domain";
import type { AddressFunds, RequestId, RequestTerms, StateName } from "@causeway/domain";
import { sql as text, type Column, type SQL } from "drizzle-orm";
import {
  columnsOf,
  defineSql,
  nameOf,
  namesOf,
  recordset,
  rowsJson,
  type Params,
  type Row,
  defineSqlWrite,
} from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { deposits } from "../../deposits/deposits.tables.ts";
import { sends } from "../../payments/sends.tables.ts";
import { requests } from "../requests.tables.ts";
import { termsFromJson } from "../terms-json.postgres.ts";
import { historyEntry, listedCurrencies } from "./history-entry.ts";
import { currencyNames, requestHistory, requestTransactions } from "./history.tables.ts";
import type { NameMemory } from "./name-memory.ts";

const h = requestHistory;

/** {@link publicStatus} as an expression over the columns of `requests`. */
const STATUS = statusSql("seen", statusSql("none"));

function statusSql(funds: AddressFunds, otherwise?: SQL): SQL {
  const cases = requestStates
    .filter((name) => otherwise === undefined || publicStatus({ name }, funds) !== publicStatus({ name }))
    .map((name) => {
      const isState = text`${requests.state} = ${text.raw(`'${name}'`)}`;
      const isCase = otherwise === undefined ? isState : text`${requests.fundsSeen} and ${isState}`;
      return text`when ${isCase} then ${text.raw(`'${publicStatus({ name }, funds)}'`)}`;
    });
  const elseClause = otherwise === undefined ? text`` : text` else ${otherwise}`;
  return text`case ${text.join(cases, text` `)}${elseClause} end`;
}

/** Requests are listed once someone has paid them, or is about to. */
const IS_LISTABLE = text`(${requests.state} not in ('quoted', 'expired') or ${requests.depositId} is not null or ${requests.fundsSeen})`;

/** A join that finds block and time of what the user paid: a deposit, or their own transfer. */
const PAYMENT = text`left join lateral (
    select ${deposits.blockNumber} as block_number, ${deposits.seenAtMs} as seen_at_ms from ${deposits} where ${deposits.id} = ${requests.depositId}
    union all
    select ${sends.blockNumber}, ${sends.createdAtMs} from ${sends} where ${sends.requestId} = ${requests.requestId}
    limit 1) as payment on true`;

/** From the sighting of the deposit until the fill was mined. Fast fills come before their deposit. */
const FILL_MS = text`case when ${requests.state} = 'filled' and ${requests.front} = 'none' and ${requests.depositId} is not null
    then greatest(coalesce(${requests.stateSinceMs}, ${requests.updatedAtMs}) - payment.seen_at_ms, 0) end`;

const TRANSACTIONS = text`(
    select unnest(${requests.inTxHashes}) as tx_hash, 'deposit' as kind
    union select unnest(${requests.txHashes}), 'fill'
    union select unnest(${requests.refundTxHashes}), 'refund') as own`;

/** The columns that are read of a request that must be added to the history. */
export const UNLISTED = { state: requests.state, front: requests.front, terms: requests.terms };
export type Unlisted = Row<typeof UNLISTED>;

/** Whether the history has an entry of a request. */
export const IS_LISTED = text`exists (select from ${h} where ${h.requestId} = ${requests.requestId})`;

/**
 * Selects the {@link UNLISTED} columns of saved requests that the history lacks and must list.
 * @param isListed whether it has one: each mention of the history costs time, because it has many indexes
 */
export function selectUnlisted(saved: SQL, isListed: SQL = IS_LISTED): SQL {
  return text`select ${columnsOf(UNLISTED)} from ${saved} as ${requests} where ${IS_LISTABLE} and not ${isListed}`;
}

/**
 * Parts of a `with` that bring the entries of saved requests up to date. Changes that clients do not see
 * write nothing, because each entry has many indexes.
 * @param saved rows of `requests` as they were just saved
 */
export function updateListed(saved: SQL): SQL {
  const appendFeature = (feature: string, isMissing: SQL): SQL => {
    const array = text.raw(`'{${feature}}'`);
    return text`case when ${isMissing} and not ${h.features} @> ${array} then ${array}::text[] else '{}' end`;
  };
  const features = text`${h.features} || ${appendFeature("fast-fill", text`next.front <> 'none'`)}
    || ${appendFeature("execution", text`next.state = 'accepted'`)}`;
  const names = namesOf(h.status, h.failReason, h.refundFailReason, h.features, h.inBlock, h.inSeenAtMs);
  const values = text`next.status, next.fail_reason, next.refund_fail_reason, ${features}, next.block_number, next.seen_at_ms`;
  const fillMs = text`case when ${h.status} = 'success' and next.state = 'filled' and next.front = 'none' then ${h.fillMs} else next.fill_ms end`;
  // Compares with the row that it updates, so that each entry is looked up once.
  return text`
    relisted as (
      update ${h} set (${names}, ${namesOf(h.fillMs, h.updatedAtMs)}) = row(${values}, ${fillMs}, next.updated_at_ms)
      from (
        select ${requests.requestId}, ${requests.state}, ${requests.front}, ${STATUS} as status, ${requests.failReason}, ${requests.refundFailReason},
          payment.block_number, payment.seen_at_ms, ${requests.updatedAtMs}, ${FILL_MS} as fill_ms
        from ${saved} as ${requests} ${PAYMENT}
      ) as next
      where ${h.requestId} = next.request_id
        and (${columnsOf([h.status, h.failReason, h.refundFailReason, h.features, h.inBlock, h.inSeenAtMs])}) is distinct from (${values}))`;
}

/**
 * Parts of a `with` that keep the transactions of listed requests whose hashes changed.
 * @param isListed whether the history has one
 */
export function updateTransactions(saved: SQL, isListed: SQL): SQL {
  const t = requestTransactions;
  return text`
    forgotten as (
      delete from ${t} using ${saved} as ${requests}
      where ${t.requestId} = ${requests.requestId}
        and not exists (select from ${TRANSACTIONS} where own.tx_hash = ${t.txHash} and own.kind = ${t.kind})),
    found as (
      insert into ${t} (${namesOf(t.txHash, t.requestId, t.kind)})
      select own.tx_hash, ${requests.requestId}, own.kind from ${saved} as ${requests} cross join lateral ${TRANSACTIONS}
      where ${isListed}
      on conflict do nothing)`;
}

/** The part of a `with` that follows deposits to the block that a reorg moved them to. */
export function updateBlocks(recorded: SQL): SQL {
  return text`
    relisted as (
      update ${h} set ${nameOf(h.inBlock)} = recorded.block_number
      from ${recorded} as recorded join ${requests} on ${requests.requestId} = recorded.request_id and ${requests.depositId} = recorded.id
      where ${h.requestId} = ${requests.requestId} and ${h.inBlock} <> recorded.block_number)`;
}

/** Brings the entries of saved requests up to date, like the statement that saves requests. */
export const updateHistory = defineSqlWrite(
  "history_update",
  (p: Params<{ requestIds: readonly RequestId[] }>) => text`
    with saved as (select * from ${requests} where ${requests.requestId} = any(${p.requestIds}::text[])),
    ${updateListed(text`saved`)},
    ${updateTransactions(text`saved`, IS_LISTED)}
    select`,
);

const NAME = {
  chainId: currencyNames.chainId,
  address: currencyNames.address,
  asset: currencyNames.asset,
  symbol: currencyNames.symbol,
  wrapsNative: currencyNames.wrapsNative,
};
const readNames = defineSql(
  "history_names",
  NAME,
  (p: Params<{ chainIds: readonly number[]; addresses: readonly string[] }>) => text`
    select ${columnsOf(NAME)} from ${currencyNames}
    join (select distinct * from unnest(${p.chainIds}::bigint[], ${p.addresses}::text[]) as a (chain_id, address)) as asked
      on asked.chain_id = ${currencyNames.chainId} and asked.address = ${currencyNames.address}`,
);

const ENTRY = {
  requestId: h.requestId,
  requestType: h.requestType,
  userAddress: h.userAddress,
  recipient: h.recipient,
  currencyIn: h.currencyIn,
  currencyOut: h.currencyOut,
  symbolIn: h.symbolIn,
  symbolOut: h.symbolOut,
  amountUsd: h.amountUsd,
  appFeesUsd: h.appFeesUsd,
  features: h.features,
  keyId: h.keyId,
  referrer: h.referrer,
};
/** The columns that are the same in `requests`. */
const SHARED: readonly (readonly [Column, Column])[] = [
  [h.createdAtMs, requests.createdAtMs],
  [h.updatedAtMs, requests.updatedAtMs],
  [h.failReason, requests.failReason],
  [h.refundFailReason, requests.refundFailReason],
  [h.originChainId, requests.originChainId],
  [h.destinationChainId, requests.destinationChainId],
  [h.depositAddress, requests.depositAddress],
];
type Inserted = { readonly requestIds: readonly RequestId[]; readonly entries: string };
const insert = defineSqlWrite("history_insert", (p: Params<Inserted>) => {
  const entry = text.join(
    Object.values(ENTRY).map((column) => text`given.${nameOf(column)}`),
    text`, `,
  );
  const shared = columnsOf(SHARED.map(([, column]) => column));
  return text`
    with given as materialized (select * from ${recordset(p.entries, ENTRY)}),
    found as (
      insert into ${requestTransactions} (${namesOf(requestTransactions.txHash, requestTransactions.requestId, requestTransactions.kind)})
      select own.tx_hash, ${requests.requestId}, own.kind
      from given join ${requests} on ${requests.requestId} = given.request_id cross join lateral ${TRANSACTIONS}
      where ${requests.requestId} = any(${p.requestIds}::text[])
      -- A request that was archived is listed again; its transactions were kept.
      on conflict do nothing)
    insert into ${h} (${namesOf(...Object.values(ENTRY), ...SHARED.map(([column]) => column), h.status, h.inBlock, h.inSeenAtMs, h.fillMs)})
    select ${entry}, ${shared}, ${STATUS}, payment.block_number, payment.seen_at_ms, ${FILL_MS}
    from given join ${requests} on ${requests.requestId} = given.request_id ${PAYMENT}
    where ${requests.requestId} = any(${p.requestIds}::text[])
    -- Saved twice in one transaction before it was listed.
    on conflict do nothing`;
});

/** A request that enters history. */
export interface NewlyListed {
  readonly terms: RequestTerms;
  readonly state: StateName;
  readonly isFastFill: boolean;
}

/** Reads a row of {@link selectUnlisted}. */
export function toNewlyListed({ state, front, terms }: Unlisted): NewlyListed {
  return { terms: termsFromJson(terms), state, isFastFill: front !== "none" };
}

/**
 * Adds requests that this transaction saved to the history.
 * @param memory keeps the currency names that are read here, for {@link listRemembered}
 */
export async function listRequests(
  sql: Sql,
  listed: readonly NewlyListed[],
  memory?: NameMemory,
): Promise<void> {
  if (listed.length === 0) return;
  const currencies = listed.flatMap(({ terms }) => Object.values(listedCurrencies(terms)));
  const names = await readNames(sql, {
    chainIds: currencies.map(({ chainId }) => chainId),
    addresses: currencies.map(({ address }) => address),
  });
  memory?.keep(names);
  const namesByCurrency = new Map(names.map((name) => [`${name.chainId} ${name.address}`, name]));
  await insertEntries(sql, listed, ({ chainId, address }) => namesByCurrency.get(`${chainId} ${address}`));
}

/**
 * Like {@link listRequests}, but takes the currency names from the memory instead of the database: the write
 * is sent before this returns. Entries that exist already stay unchanged.
 * @returns undefined if a name is not in the memory; nothing is sent then
 */
export function listRemembered(
  sql: Sql,
  listed: readonly NewlyListed[],
  memory: NameMemory | undefined,
): Promise<void> | undefined {
  const currencies = listed.flatMap(({ terms }) => Object.values(listedCurrencies(terms)));
  const isKnown = currencies.every((currency) => memory?.find(currency) !== undefined);
  if (memory === undefined || currencies.length === 0 || !isKnown) return undefined;
  return insertEntries(sql, listed, (currency) => memory.find(currency));
}

async function insertEntries(
  sql: Sql,
  listed: readonly NewlyListed[],
  findName: Parameters<typeof historyEntry>[1],
): Promise<void> {
  await insert(sql, {
    requestIds: listed.map(({ terms }) => terms.requestId),
    entries: rowsJson(
      ENTRY,
      listed.map((request) => historyEntry(request, findName)),
    ),
  });
}
