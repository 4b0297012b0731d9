import type { OrderId, RequestId } from "@causeway/domain";
import type {
  CurrencyName,
  HistoryQuestion,
  HistorySort,
  ListedRequest,
  RequestFeature,
  RequestHistory,
  RequestType,
} from "./request-history.port.ts";
import { inTime } from "../../db/in-time.postgres.ts";
import { statement } from "../../db/pool.postgres.ts";
import type { Sql, Statement } from "../../db/pool.postgres.ts";
import { Parameters, blockBound, perColumn, whereText } from "./request-history-where.postgres.ts";
import { requestStories } from "./request-stories.postgres.ts";

const LISTED_COLUMNS =
  "h.request_id, h.n, h.request_type, h.features, h.deposit_address, h.created_at_ms, h.updated_at_ms, h.amount_usd::numeric";

interface ListedRow {
  request_id: string;
  n: number;
  request_type: string;
  features: string[];
  deposit_address: string | null;
  created_at_ms: number;
  updated_at_ms: number;
  /** More than a number holds, of a token whose price somebody made. */
  amount_usd: bigint;
}

const sortColumns: Record<HistorySort, "created_at_ms" | "updated_at_ms" | "amount_usd"> = {
  createdAt: "created_at_ms",
  updatedAt: "updated_at_ms",
  amountUsd: "amount_usd",
};

const idOfOrder = statement("history_id_of_order", "select request_id from requests where order_id = $1");
const name = statement(
  "history_name",
  `insert into currency_names (chain_id, address, asset, symbol, wraps_native)
   select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::boolean[])
   on conflict (chain_id, address) do update
     set asset = excluded.asset, symbol = excluded.symbol, wraps_native = excluded.wraps_native
     where (currency_names.asset, currency_names.symbol, currency_names.wraps_native)
       is distinct from (excluded.asset, excluded.symbol, excluded.wraps_native)`,
);

/**
 * Statements without a name: the database plans each for the very values asked for. A plan kept for all
 * values would be a bad one for many, as one user has half of all requests and another three.
 */
const planned = (text: string): Statement => ({ name: "", text });

/**
 * Past requests, found by what is indexed in `request_history`.
 *
 * @param searches runs what anybody may ask in his own words. Some questions no index answers: they must not
 * take the connections, nor the time, of those who move money
 */
export function postgresRequestHistory(sql: Sql, searches: Sql = sql): RequestHistory {
  return {
    async page(question) {
      const { text, values } = pageStatement(question);
      const rows = await inTime(searches.query<ListedRow>(planned(text), values));
      return rows.map((row) => listedOf(row, question.sort));
    },
    async count({ conditions, groups }, cap) {
      const parameters = new Parameters();
      const where = whereText(conditions, groups, parameters);
      const text = `select count(*) from (select from request_history h where ${where} limit ${parameters.add(cap, "bigint")}) counted`;
      const [row] = await inTime(searches.query<{ count: number }>(planned(text), parameters.values));
      return row?.count ?? 0;
    },
    async idOfOrder(orderId: OrderId) {
      const [row] = await sql.query<{ request_id: string }>(idOfOrder, [orderId]);
      return row?.request_id as RequestId | undefined;
    },
    stories: (requestIds) => requestStories(sql, requestIds, false),
    story: async (requestId) => (await requestStories(sql, [requestId], true)).get(requestId),
    async name(currencies: readonly CurrencyName[]) {
      await sql.query(name, [
        currencies.map((one) => one.chainId),
        currencies.map((one) => one.address),
        currencies.map((one) => one.asset ?? null),
        currencies.map((one) => one.symbol),
        currencies.map((one) => one.wrapsNative),
      ]);
    },
  };
}

/**
 * The text of one page. The place where the last page ended is compared as a whole, so that the index is
 * entered there.
 */
export function pageStatement(question: HistoryQuestion): {
  readonly text: string;
  readonly values: readonly unknown[];
} {
  const { conditions, groups, sort, isAscending, after, limit } = question;
  const parameters = new Parameters();
  const column = `h.${sortColumns[sort]}`;
  const bound = blockBound(conditions, parameters);
  const behind =
    after === undefined
      ? ""
      : ` and (${column}, h.n) ${isAscending ? ">" : "<"} (${parameters.add(after.key, "bigint")}, ${parameters.add(after.n, "bigint")})`;
  const direction = isAscending ? "asc" : "desc";
  const most = parameters.add(limit, "bigint");
  const parts = perColumn(conditions).map(
    (part) => `(select h.n, ${column} as key from request_history h
        where ${whereText(part, groups, parameters)}${bound}${behind}
        order by ${column} ${direction}, h.n ${direction} limit ${most})`,
  );
  return {
    // Found first by what the indexes hold, so that only what is shown is fetched from the table.
    text: `select ${LISTED_COLUMNS} from (
        select n from (${parts.join(" union ")}) either order by key ${direction}, n ${direction} limit ${most}
      ) found join request_history h using (n) order by ${column} ${direction}, h.n ${direction}`,
    values: parameters.values,
  };
}

function listedOf(row: ListedRow, sort: HistorySort): ListedRequest {
  return {
    requestId: row.request_id as RequestId,
    place: { key: BigInt(row[sortColumns[sort]]), n: BigInt(row.n) },
    requestType: row.request_type as RequestType,
    features: row.features as RequestFeature[],
    depositAddress: row.deposit_address ?? undefined,
    updatedAtMs: row.updated_at_ms,
  };
}
