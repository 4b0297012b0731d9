import { requestFeatures } from "./request-history.port.ts";
import type { HistoryCondition, HistoryField, HistoryRange } from "./request-history.port.ts";

/** Columns that hold one value each. */
const columns: Partial<Record<HistoryField, string>> = {
  id: "h.request_id",
  recipient: "h.recipient",
  depositAddress: "h.deposit_address",
  status: "h.status",
  failReason: "h.fail_reason",
  refundFailReason: "h.refund_fail_reason",
  requestType: "h.request_type",
  apiKey: "h.key_id",
  referrer: "h.referrer",
  currencyInAddress: "h.currency_in",
  currencyOutAddress: "h.currency_out",
  currencyInSymbol: "h.symbol_in",
  currencyOutSymbol: "h.symbol_out",
};
const chainColumns: Partial<Record<HistoryField, string>> = {
  originChainId: "h.origin_chain_id",
  destinationChainId: "h.destination_chain_id",
};
const transactionKinds: Partial<Record<HistoryField, string>> = {
  depositTxHash: "deposit",
  fillTxHash: "fill",
  refundTxHash: "refund",
};
const rangeColumns: Record<HistoryRange, string> = {
  createdAt: "h.created_at_ms",
  block: "h.in_block",
  amountUsd: "h.amount_usd",
  appFeesAmountUsd: "h.app_fees_usd",
  fillTime: "h.fill_ms",
};

/** Values of a statement, in the order of their numbers. */
export class Parameters {
  readonly values: unknown[] = [];

  /** The place of a value in the text. */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}

/** A condition on one column, given by its name. */
interface ColumnCondition {
  readonly kind: "column";
  readonly column: string;
  readonly values: readonly string[];
}
type Condition = HistoryCondition | ColumnCondition;

/** An account is one of these. Some clients pass a deposit address as `user`. */
const USER_COLUMNS = ["h.user_address", "h.deposit_address"];
const ACCOUNT_COLUMNS = ["h.user_address", "h.recipient", "h.deposit_address"];

/**
 * The same conditions once per column where one of them compares several columns, so that each part reads its
 * rows in the order of its own index. As one condition they have no common index: for a user who was busy
 * long ago, the newest requests of all users are read first.
 */
export function perColumn(conditions: readonly HistoryCondition[]): readonly (readonly Condition[])[] {
  const at = conditions.findIndex((condition) => columnsOf(condition) !== undefined);
  const condition = conditions[at];
  const columns = condition === undefined ? undefined : columnsOf(condition);
  if (condition?.kind !== "is" || columns === undefined) return [conditions];
  const { values } = condition;
  return columns.map((column) => [
    ...conditions.slice(0, at),
    { kind: "column", column, values } as const,
    ...conditions.slice(at + 1),
  ]);
}

function columnsOf(condition: HistoryCondition): readonly string[] | undefined {
  if (condition.kind !== "is" || condition.not === true) return undefined;
  if (condition.field === "user") return USER_COLUMNS;
  return condition.field === "term" && !areHashes(condition.values) ? ACCOUNT_COLUMNS : undefined;
}

/**
 * What rows `h` of `request_history` must be. Texts are ours alone; whatever a caller gave is a parameter.
 */
export function whereText(
  conditions: readonly Condition[],
  groups: ReadonlyArray<readonly HistoryCondition[]>,
  parameters: Parameters,
): string {
  const all = conditions.map((condition) => conditionText(condition, parameters));
  if (groups.length > 0)
    all.push(`(${groups.map((group) => `(${whereText(group, [], parameters)})`).join(" or ")})`);
  return all.length === 0 ? "true" : all.join(" and ");
}

/**
 * A block tells the time before which a request was quoted: its deposit was seen after that. Without it, a
 * list from the newest back would read all that is younger than the block. Each chain has its own count of
 * blocks, and is compared together with it, so that only their common index serves; one without such a block
 * lends the time of another, which bounds too. Besides, ten minutes are left for deposits that a reorg moved
 * after they were seen.
 */
export function blockBound(conditions: readonly HistoryCondition[], parameters: Parameters): string {
  for (const condition of conditions)
    if (condition.kind === "within" && condition.range === "block" && condition.not !== true) {
      if (condition.max === undefined) return "";
      return ` and h.created_at_ms <= (
        with recursive chain (id) as (
          select min(origin_chain_id) from request_history
          union all
          select (select min(origin_chain_id) from request_history where origin_chain_id > chain.id) from chain where chain.id is not null
        )
        select max(last.in_seen_at_ms) + 600000 from chain cross join lateral (
          select b.in_seen_at_ms from request_history b
          where (b.origin_chain_id, b.in_block) <= (chain.id, ${parameters.add(condition.max, "bigint")})
          order by b.origin_chain_id desc, b.in_block desc limit 1
        ) last where chain.id is not null${chainOf(conditions, parameters)})`;
    }
  return "";
}

/** The one origin chain that is asked for, if one is. */
function chainOf(conditions: readonly HistoryCondition[], parameters: Parameters): string {
  for (const one of conditions)
    if (one.kind === "is" && one.field === "originChainId" && one.not !== true)
      return ` and chain.id = any(${parameters.add(one.values, "bigint[]")})`;
  return "";
}

function conditionText(condition: Condition, parameters: Parameters): string {
  if (condition.kind === "column") return equals(condition.column, condition.values, "text", parameters);
  const text = plainText(condition, parameters);
  // What is not known is not the value either.
  return condition.not === true ? `(${text}) is not true` : text;
}

function plainText(condition: HistoryCondition, parameters: Parameters): string {
  switch (condition.kind) {
    case "is":
      return fieldText(condition.field, condition.values, parameters);
    case "null":
      return nullText(condition.field);
    case "within": {
      const column = rangeColumns[condition.range];
      const ends = [
        ...(condition.min === undefined ? [] : [`${column} >= ${parameters.add(condition.min, "bigint")}`]),
        ...(condition.max === undefined ? [] : [`${column} <= ${parameters.add(condition.max, "bigint")}`]),
        // Only what has fees stands in their index.
        ...(condition.range === "appFeesAmountUsd" && (condition.min ?? 0n) > 0n ? [`${column} > 0`] : []),
      ];
      return ends.length === 0 ? "true" : ends.join(" and ");
    }
    default:
      return condition satisfies never;
  }
}

function fieldText(field: HistoryField, values: readonly string[], parameters: Parameters): string {
  const column = columns[field];
  if (column !== undefined) return equals(column, values, "text", parameters);
  const chainColumn = chainColumns[field];
  if (chainColumn !== undefined) return equals(chainColumn, values, "bigint", parameters);
  const list = (type: string): string => parameters.add(values, `${type}[]`);
  const kind = transactionKinds[field];
  if (kind !== undefined)
    return among(
      `select t.request_id from request_transactions t where t.tx_hash = any(${list("text")}) and t.kind = '${kind}'`,
    );
  if (field === "hash")
    return among(`select t.request_id from request_transactions t where t.tx_hash = any(${list("text")})`);
  if (field === "user") return oneOf(USER_COLUMNS, list("text"));
  if (field === "orderId")
    return among(`select r.request_id from requests r where r.order_id = any(${list("text")})`);
  if (field === "chainId") {
    const chains = list("bigint");
    return `(h.origin_chain_id = any(${chains}) or h.destination_chain_id = any(${chains}))`;
  }
  // Written out: each feature has an index of its own, which is found by its word alone.
  if (field === "features") return values.map(featureText).join(" and ");
  if (field === "term") return termText(values, list("text"));
  throw new RangeError(`invariant violated: no search by ${field}`);
}

/** An address is shorter than a hash: only one of the two can be meant. */
function termText(values: readonly string[], terms: string): string {
  return areHashes(values)
    ? among(`select r.request_id from requests r where r.request_id = any(${terms}) or r.order_id = any(${terms})
        union all select t.request_id from request_transactions t where t.tx_hash = any(${terms})`)
    : oneOf(ACCOUNT_COLUMNS, terms);
}

const areHashes = (values: readonly string[]): boolean =>
  values.every((value) => value.length === HASH_LENGTH);
const oneOf = (names: readonly string[], list: string): string =>
  `(${names.map((column) => `${column} = any(${list})`).join(" or ")})`;

/** @throws RangeError for what is no feature: this text stands in a statement. */
function featureText(value: string): string {
  const feature = requestFeatures.find((known) => known === value);
  if (feature === undefined) throw new RangeError(`invariant violated: unknown request feature ${feature}`);
  return `h.features @> '{${feature}}'`;
}

const HASH_LENGTH = 66;

function nullText(field: HistoryField): string {
  const column = columns[field] ?? chainColumns[field];
  if (column !== undefined) return `${column} is null`;
  const kind = transactionKinds[field];
  if (kind !== undefined)
    return `not exists (select from request_transactions t where t.request_id = h.request_id and t.kind = '${kind}')`;
  if (field === "features") return "h.features = '{}'";
  return "false";
}

const equals = (column: string, values: readonly string[], type: string, parameters: Parameters): string =>
  values.length === 1
    ? `${column} = ${parameters.add(values[0], type)}`
    : `${column} = any(${parameters.add(values, `${type}[]`)})`;

/**
 * Looked up first, once: what is left is a look at a few rows by their ids, however the rest of the question
 * reads.
 */
const among = (ids: string): string => `h.request_id = any(array(${ids}))`;
