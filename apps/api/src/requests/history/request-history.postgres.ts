import type { OrderId } from "@causeway/domain";
import { eq, sql as text, type SQL } from "drizzle-orm";
import type { CurrencyName, HistoryQuestion, HistorySort, RequestHistory } from "./request-history.port.ts";
import {
  defineQuery,
  defineSql,
  nameOf,
  namesOf,
  runSql,
  textAndValues,
  type Params,
} from "../../db/define-query.postgres.ts";
import { withSearchTimeout } from "../../db/search-timeout.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { requests } from "../requests.tables.ts";
import { currencyNames, requestHistory } from "./history.tables.ts";
import { blockBound, perColumn, valueOf, whereSql } from "./request-history-where.postgres.ts";
import { requestStories } from "./request-stories.postgres.ts";

const h = requestHistory;

const sortColumns = {
  createdAt: h.createdAtMs,
  updatedAt: h.updatedAtMs,
  amountUsd: h.amountUsd,
} satisfies Record<HistorySort, unknown>;

const LISTED = {
  requestId: h.requestId,
  requestType: h.requestType,
  features: h.features,
  depositAddress: h.depositAddress,
  updatedAtMs: h.updatedAtMs,
  n: BigInt,
  /** A token with a made-up price can exceed the range of a number. */
  key: BigInt,
};

const idOfOrder = defineQuery("history_id_of_order", (db, { orderId }: Params<{ orderId: OrderId }>) =>
  db.select({ requestId: requests.requestId }).from(requests).where(eq(requests.orderId, orderId)),
);

interface Names extends Record<string, unknown> {
  readonly chainIds: readonly number[];
  readonly addresses: readonly string[];
  readonly assets: readonly (string | null)[];
  readonly symbols: readonly string[];
  readonly wrapsNative: readonly boolean[];
}
const { chainId, address, asset, symbol, wrapsNative } = currencyNames;
const writeNames = defineSql(
  "history_name",
  {},
  (p: Params<Names>) => text`
    insert into ${currencyNames} (${namesOf(chainId, address, asset, symbol, wrapsNative)})
    select * from unnest(${p.chainIds}::bigint[], ${p.addresses}::text[], ${p.assets}::text[], ${p.symbols}::text[],
      ${p.wrapsNative}::boolean[])
    on conflict (${namesOf(chainId, address)}) do update set
      ${nameOf(asset)} = excluded.${nameOf(asset)}, ${nameOf(symbol)} = excluded.${nameOf(symbol)},
      ${nameOf(wrapsNative)} = excluded.${nameOf(wrapsNative)}
    where (${asset}, ${symbol}, ${wrapsNative})
      is distinct from (excluded.${nameOf(asset)}, excluded.${nameOf(symbol)}, excluded.${nameOf(wrapsNative)})`,
);

/**
 * Past requests, searched through the indexes of `request_history`. Each question is planned with its actual
 * values: one user may have half of all requests and another three, so a generic plan would suit neither.
 * @param searches runs client questions. Some have no index, so they must not use the connections of code
 * that moves money
 */
export function postgresRequestHistory(sql: Sql, searches: Sql = sql): RequestHistory {
  return {
    async page(question) {
      const rows = await withSearchTimeout(runSql(searches, LISTED, pageSql(question)));
      return rows.map(({ n, key, depositAddress, ...row }) => ({
        ...row,
        place: { key, n },
        depositAddress: depositAddress ?? undefined,
      }));
    },
    async count({ conditions, groups }, cap) {
      const counted = text`select count(*) from (
        select from ${h} where ${whereSql(conditions, groups)} limit ${valueOf(cap, "bigint")}) counted`;
      const [row] = await withSearchTimeout(runSql(searches, { count: Number }, counted));
      return row?.count ?? 0;
    },
    idOfOrder: async (orderId) => (await idOfOrder(sql, { orderId }))[0]?.requestId,
    stories: (requestIds) => requestStories(sql, requestIds, false),
    story: async (requestId) => (await requestStories(sql, [requestId], true)).get(requestId),
    async storeNames(currencies: readonly CurrencyName[]) {
      await writeNames(sql, {
        chainIds: currencies.map((currency) => currency.chainId),
        addresses: currencies.map((currency) => currency.address),
        assets: currencies.map((currency) => currency.asset ?? null),
        symbols: currencies.map((currency) => currency.symbol),
        wrapsNative: currencies.map((currency) => currency.wrapsNative),
      });
    },
  };
}

/** The statement of one page, as text and values. */
export const pageStatement = (question: HistoryQuestion): ReturnType<typeof textAndValues> =>
  textAndValues(pageSql(question));

/**
 * The statement of one page. The end of the last page is compared as a row, so that Postgres starts there in
 * the index.
 */
function pageSql({ conditions, groups, sort, isAscending, after, limit }: HistoryQuestion): SQL {
  const column = sortColumns[sort];
  const direction = text.raw(isAscending ? "asc" : "desc");
  const afterPlace =
    after === undefined
      ? text``
      : text` and (${column}, ${h.n}) ${text.raw(isAscending ? ">" : "<")} (${valueOf(after.key, "bigint")}, ${valueOf(after.n, "bigint")})`;
  const maxRows = valueOf(limit, "bigint");
  const parts = perColumn(conditions).map(
    (part) => text`(select ${h.n}, ${column} as key from ${h}
        where ${whereSql(part, groups)}${blockBound(conditions)}${afterPlace}
        order by ${column} ${direction}, ${h.n} ${direction} limit ${maxRows})`,
  );
  // The indexes suffice to find the rows; the table is only read for the rows of the page.
  return text`select ${h.requestId}, ${h.requestType}, ${h.features}, ${h.depositAddress}, ${h.updatedAtMs}, ${h.n},
        ${column}::numeric as key
      from (
        select n from (${text.join(parts, text` union `)}) either order by key ${direction}, n ${direction} limit ${maxRows}
      ) found join ${h} using (n) order by ${column} ${direction}, ${h.n} ${direction}`;
}
