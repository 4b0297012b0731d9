import { sql as text, type Column, type SQL } from "drizzle-orm";
import { requests } from "../requests.tables.ts";
import { requestHistory, requestTransactions } from "./history.tables.ts";
import { requestFeatures } from "./request-history.port.ts";
import type { HistoryCondition, HistoryField, HistoryRange } from "./request-history.port.ts";

const h = requestHistory;

/** Fields that compare one column. */
const columns: Partial<Record<HistoryField, Column>> = {
  id: h.requestId,
  recipient: h.recipient,
  depositAddress: h.depositAddress,
  status: h.status,
  failReason: h.failReason,
  refundFailReason: h.refundFailReason,
  requestType: h.requestType,
  apiKey: h.keyId,
  referrer: h.referrer,
  currencyInAddress: h.currencyIn,
  currencyOutAddress: h.currencyOut,
  currencyInSymbol: h.symbolIn,
  currencyOutSymbol: h.symbolOut,
};
const chainColumns: Partial<Record<HistoryField, Column>> = {
  originChainId: h.originChainId,
  destinationChainId: h.destinationChainId,
};
const transactionKinds: Partial<Record<HistoryField, SQL>> = {
  depositTxHash: text`'deposit'`,
  fillTxHash: text`'fill'`,
  refundTxHash: text`'refund'`,
};
const rangeColumns: Record<HistoryRange, Column> = {
  createdAt: h.createdAtMs,
  block: h.inBlock,
  amountUsd: h.amountUsd,
  appFeesAmountUsd: h.appFeesUsd,
  fillTime: h.fillMs,
};

/** A parameter with an explicit type, because the rest of the statement does not imply it. */
export const valueOf = (value: unknown, type: "text" | "bigint" | "text[]" | "bigint[]"): SQL =>
  text`${text.param(value)}::${text.raw(type)}`;

/** A condition on one column. */
interface ColumnCondition {
  readonly kind: "column";
  readonly column: Column;
  readonly values: readonly string[];
}
type Condition = HistoryCondition | ColumnCondition;

/** Columns that can hold an account. Some clients pass a deposit address as `user`. */
const USER_COLUMNS = [h.userAddress, h.depositAddress];
const ACCOUNT_COLUMNS = [h.userAddress, h.recipient, h.depositAddress];

/**
 * Splits conditions that compare several columns into one list per column, so that each part uses the index
 * of its column. No index covers the combination: for a user with only old requests, Postgres would read the
 * newest requests of all users first.
 */
export function perColumn(conditions: readonly HistoryCondition[]): readonly (readonly Condition[])[] {
  const index = conditions.findIndex((condition) => comparedColumns(condition) !== undefined);
  const condition = conditions[index];
  const compared = condition === undefined ? undefined : comparedColumns(condition);
  if (condition?.kind !== "is" || compared === undefined) return [conditions];
  const { values } = condition;
  return compared.map((column) => [
    ...conditions.slice(0, index),
    { kind: "column", column, values } as const,
    ...conditions.slice(index + 1),
  ]);
}

function comparedColumns(condition: HistoryCondition): readonly Column[] | undefined {
  if (condition.kind !== "is" || condition.not === true) return undefined;
  if (condition.field === "user") return USER_COLUMNS;
  return condition.field === "term" && !areHashes(condition.values) ? ACCOUNT_COLUMNS : undefined;
}

/** The condition on rows of `request_history`. A caller's value is always a parameter. */
export function whereSql(
  conditions: readonly Condition[],
  groups: ReadonlyArray<readonly HistoryCondition[]>,
): SQL {
  const all = conditions.map(conditionSql);
  if (groups.length > 0) all.push(anyOf(groups.map((group) => text`(${whereSql(group, [])})`)));
  return all.length === 0 ? text`true` : text.join(all, text` and `);
}

/**
 * Bounds the age of requests whose deposit is in or before a given block: without it, a list that starts with
 * the newest would read all younger ones. A chain without such a block uses the time of another chain's. Ten
 * minutes are added for deposits that a reorg moved after they were seen.
 */
export function blockBound(conditions: readonly HistoryCondition[]): SQL {
  for (const condition of conditions)
    if (condition.kind === "within" && condition.range === "block" && condition.not !== true) {
      if (condition.max === undefined) return text``;
      return text` and ${h.createdAtMs} <= (
        with recursive chain (id) as (
          select min(${h.originChainId}) from ${h}
          union all
          select (select min(${h.originChainId}) from ${h} where ${h.originChainId} > chain.id) from chain where chain.id is not null
        )
        select max(last.in_seen_at_ms) + 600000 from chain cross join lateral (
          select ${h.inSeenAtMs} from ${h}
          where (${h.originChainId}, ${h.inBlock}) <= (chain.id, ${valueOf(condition.max, "bigint")})
          order by ${h.originChainId} desc, ${h.inBlock} desc limit 1
        ) last where chain.id is not null${isOriginChain(conditions)})`;
    }
  return text``;
}

/** Restricts the chains of {@link blockBound} to the origin chains that the conditions name. */
function isOriginChain(conditions: readonly HistoryCondition[]): SQL {
  for (const condition of conditions)
    if (condition.kind === "is" && condition.field === "originChainId" && condition.not !== true)
      return text` and chain.id = any(${valueOf(condition.values, "bigint[]")})`;
  return text``;
}

function conditionSql(condition: Condition): SQL {
  if (condition.kind === "column") return equals(condition.column, condition.values, "text");
  const plain = plainSql(condition);
  // `is not true` also matches NULL: an unknown value differs from every value.
  return condition.not === true ? text`(${plain}) is not true` : plain;
}

function plainSql(condition: HistoryCondition): SQL {
  switch (condition.kind) {
    case "is":
      return fieldSql(condition.field, condition.values);
    case "null":
      return nullSql(condition.field);
    case "within": {
      const { range, min, max } = condition;
      const column = rangeColumns[range];
      const bounds = [
        ...(min === undefined ? [] : [text`${column} >= ${valueOf(min, "bigint")}`]),
        ...(max === undefined ? [] : [text`${column} <= ${valueOf(max, "bigint")}`]),
        // The index of fees contains only requests with fees.
        ...(range === "appFeesAmountUsd" && (min ?? 0n) > 0n ? [text`${column} > 0`] : []),
      ];
      return bounds.length === 0 ? text`true` : text.join(bounds, text` and `);
    }
    default:
      return condition satisfies never;
  }
}

function fieldSql(field: HistoryField, values: readonly string[]): SQL {
  const column = columns[field];
  if (column !== undefined) return equals(column, values, "text");
  const chainColumn = chainColumns[field];
  if (chainColumn !== undefined) return equals(chainColumn, values, "bigint");
  const kind = transactionKinds[field];
  if (kind !== undefined)
    return isAmong(text`${ofTransactions(values)} and ${requestTransactions.kind} = ${kind}`);
  const search = searches[field];
  if (search === undefined) throw new RangeError(`invariant violated: no search by ${field}`);
  return search(values);
}

/** Fields that involve several columns or another table. */
const searches: Partial<Record<HistoryField, (values: readonly string[]) => SQL>> = {
  hash: (values) => isAmong(ofTransactions(values)),
  user: (values) => isOneOf(USER_COLUMNS, values, "text[]"),
  orderId: (values) =>
    isAmong(
      text`select ${requests.requestId} from ${requests} where ${requests.orderId} = any(${valueOf(values, "text[]")})`,
    ),
  chainId: (values) => isOneOf([h.originChainId, h.destinationChainId], values, "bigint[]"),
  features: (values) => text.join(values.map(hasFeature), text` and `),
  term: termSql,
};

/** A term is an address, or a hash if it is longer. */
function termSql(values: readonly string[]): SQL {
  if (!areHashes(values)) return isOneOf(ACCOUNT_COLUMNS, values, "text[]");
  const terms = valueOf(values, "text[]");
  return isAmong(text`select ${requests.requestId} from ${requests}
      where ${requests.requestId} = any(${terms}) or ${requests.orderId} = any(${terms})
    union all ${ofTransactions(values)}`);
}

const ofTransactions = (hashes: readonly string[]): SQL =>
  text`select ${requestTransactions.requestId} from ${requestTransactions}
    where ${requestTransactions.txHash} = any(${valueOf(hashes, "text[]")})`;

const HASH_LENGTH = 66;
const areHashes = (values: readonly string[]): boolean =>
  values.every((value) => value.length === HASH_LENGTH);

/**
 * The value is inlined because each feature has its own partial index.
 * @throws RangeError if `value` is not a feature
 */
function hasFeature(value: string): SQL {
  const feature = requestFeatures.find((candidate) => candidate === value);
  if (feature === undefined) throw new RangeError(`invariant violated: unknown request feature ${value}`);
  return text`${h.features} @> ${text.raw(`'{${feature}}'`)}`;
}

function nullSql(field: HistoryField): SQL {
  const column = columns[field] ?? chainColumns[field];
  if (column !== undefined) return text`${column} is null`;
  const kind = transactionKinds[field];
  if (kind !== undefined)
    return text`not exists (select from ${requestTransactions}
      where ${requestTransactions.requestId} = ${h.requestId} and ${requestTransactions.kind} = ${kind})`;
  return field === "features" ? text`${h.features} = '{}'` : text`false`;
}

const equals = (column: Column, values: readonly string[], type: "text" | "bigint"): SQL =>
  values.length === 1
    ? text`${column} = ${valueOf(values[0], type)}`
    : text`${column} = any(${valueOf(values, `${type}[]`)})`;

const isOneOf = (names: readonly Column[], values: readonly string[], type: "text[]" | "bigint[]"): SQL =>
  anyOf(names.map((column) => text`${column} = any(${valueOf(values, type)})`));

const anyOf = (conditions: readonly SQL[]): SQL => text`(${text.join([...conditions], text` or `)})`;

/** The ids are looked up first, so that only their rows remain to be read. */
const isAmong = (ids: SQL): SQL => text`${h.requestId} = any(array(${ids}))`;
