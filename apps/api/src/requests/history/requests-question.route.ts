import { failReasons, parseHex32, publicStatuses, refundFailReasons, ServiceError } from "@causeway/domain";
import { parseAnyAccount, parseAnyTransaction } from "@causeway/families";
import { wholeNumber } from "@causeway/wire";
import type { RequestsQuery } from "@causeway/wire";
import { requestFeatures, requestTypes } from "./request-history.port.ts";
import type {
  HistoryCondition,
  HistoryField,
  HistoryPlace,
  HistoryRange,
  HistorySort,
  RequestFeature,
} from "./request-history.port.ts";
import type { ListQuestion } from "./past-requests.port.ts";
import type { ApiKeyIdentity } from "../../http/api-keys.port.ts";
import { isPublishable } from "../../http/publishable-key.ts";

const DEFAULT_LIMIT = 20;
const MAX_VALUES = 50;
const MAX_GROUPS = 10;
const MAX_CONDITIONS = 40;

type Raw = string | number | readonly (string | number)[];

/** Parameters that match single values (other than ranges): their field, and how to read a value. */
const fields: Readonly<
  Record<string, { readonly field: HistoryField; readonly read: (value: string) => string | undefined }>
> = {
  id: { field: "id", read: hash },
  orderId: { field: "orderId", read: hash },
  user: { field: "user", read: account },
  recipient: { field: "recipient", read: account },
  term: { field: "term", read: (value) => parseAnyTransaction(value) ?? account(value) },
  hash: { field: "hash", read: transaction },
  depositTxHash: { field: "depositTxHash", read: transaction },
  fillTxHash: { field: "fillTxHash", read: transaction },
  refundTxHash: { field: "refundTxHash", read: transaction },
  depositAddress: { field: "depositAddress", read: account },
  originChainId: { field: "originChainId", read: chain },
  destinationChainId: { field: "destinationChainId", read: chain },
  chainId: { field: "chainId", read: chain },
  status: { field: "status", read: oneOf(publicStatuses) },
  failReason: { field: "failReason", read: oneOf(failReasons) },
  refundFailReason: { field: "refundFailReason", read: oneOf(refundFailReasons) },
  requestType: { field: "requestType", read: oneOf(requestTypes) },
  apiKey: { field: "apiKey", read: plain },
  referrer: { field: "referrer", read: plain },
  currencyInChainId: { field: "originChainId", read: chain },
  currencyOutChainId: { field: "destinationChainId", read: chain },
  currencyInAddress: { field: "currencyInAddress", read: account },
  currencyOutAddress: { field: "currencyOutAddress", read: account },
  currencyInSymbol: { field: "currencyInSymbol", read: symbol },
  currencyOutSymbol: { field: "currencyOutSymbol", read: symbol },
  features: { field: "features", read: feature },
};

/** Parameters that are an end of a range. */
const ends: Readonly<
  Record<
    string,
    {
      readonly range: HistoryRange;
      readonly end: "min" | "max";
      readonly read: (value: string) => bigint | undefined;
    }
  >
> = {
  startTimestamp: { range: "createdAt", end: "min", read: (value) => scaled(value, 3) },
  // Includes the whole second.
  endTimestamp: { range: "createdAt", end: "max", read: (value) => plus(scaled(value, 3), 999n) },
  startBlock: { range: "block", end: "min", read: (value) => scaled(value, 0) },
  endBlock: { range: "block", end: "max", read: (value) => scaled(value, 0) },
  amountUsdMin: { range: "amountUsd", end: "min", read: (value) => scaled(value, 6) },
  amountUsdMax: { range: "amountUsd", end: "max", read: (value) => scaled(value, 6) },
  appFeesAmountUsdMin: { range: "appFeesAmountUsd", end: "min", read: (value) => scaled(value, 6) },
  appFeesAmountUsdMax: { range: "appFeesAmountUsd", end: "max", read: (value) => scaled(value, 6) },
  fillTimeMin: { range: "fillTime", end: "min", read: (value) => scaled(value, 3) },
  fillTimeMax: { range: "fillTime", end: "max", read: (value) => scaled(value, 3) },
};

/** Fields that can find a request without a secret key: values that a caller must know already. */
const namingFields: readonly HistoryField[] = [
  "id",
  "orderId",
  "hash",
  "depositTxHash",
  "fillTxHash",
  "refundTxHash",
  "user",
  "recipient",
  "term",
  "depositAddress",
];

/**
 * The conditions of a query, if the caller may use them: only a secret key lists requests without naming any,
 * and only its own by `apiKey`.
 * @throws ServiceError INVALID_REQUEST naming the parameter, UNAUTHORIZED, FORBIDDEN
 */
export function questionOf(query: RequestsQuery, asker: ApiKeyIdentity | undefined): ListQuestion {
  const conditions = conditionsOf(query);
  const groups = query.filters === undefined ? [] : groupsOf(query.filters);
  checkOwnKey(conditions, groups, asker);
  checkNamed(conditions, asker);
  const isAscending = query.sortDirection === "asc";
  const limit = query.limit === undefined ? DEFAULT_LIMIT : (wholeNumber(query.limit) ?? 0);
  if (limit < 1) throw bad("limit", "must be at least 1");
  return {
    conditions,
    groups,
    sort: query.sortBy,
    isAscending,
    after:
      query.continuation === undefined ? undefined : placeOf(query.continuation, query.sortBy, isAscending),
    limit,
    wantsTotal: query.includeTotal === true || query.includeTotal === "true",
  };
}

/** The continuation of the next page; valid only for the same order. */
export function continuationText(place: HistoryPlace, sort: HistorySort, isAscending: boolean): string {
  return Buffer.from(`${orderWord(sort, isAscending)} ${place.key} ${place.n}`).toString("base64url");
}

function placeOf(continuation: string, sort: HistorySort, isAscending: boolean): HistoryPlace {
  const text = Buffer.from(continuation, "base64url").toString("latin1");
  const [, word, key, n] = /^(\w+) (-?\d{1,19}) (\d{1,18})$/.exec(text) ?? [];
  if (key === undefined || n === undefined || BigInt.asIntN(64, BigInt(key)) !== BigInt(key))
    throw bad("continuation", "is not valid; copy it unchanged from the previous page");
  if (word !== orderWord(sort, isAscending))
    throw bad(
      "continuation",
      "belongs to another sort order; keep sortBy and sortDirection of the first page",
    );
  return { key: BigInt(key), n: BigInt(n) };
}

const orderWord = (sort: HistorySort, isAscending: boolean): string =>
  `${sort}${isAscending ? "Asc" : "Desc"}`;

function conditionsOf(query: Readonly<Record<string, unknown>>): HistoryCondition[] {
  const conditions: HistoryCondition[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    const known = fields[name];
    if (known !== undefined)
      conditions.push({
        kind: "is",
        field: known.field,
        values: limitedValues(name, valuesOf(value as Raw, name !== "referrer")).map((text) =>
          read(name, text, known.read),
        ),
      });
    const end = ends[name];
    if (end !== undefined && (typeof value === "string" || typeof value === "number"))
      conditions.push(within(name, String(value), end));
  }
  return merged(conditions);
}

/** Merges the two ends of a range into one condition: the database estimates better with both. */
function merged(conditions: readonly HistoryCondition[]): HistoryCondition[] {
  const ranges = new Map<HistoryRange, Extract<HistoryCondition, { kind: "within" }>>();
  for (const one of conditions)
    if (one.kind === "within") ranges.set(one.range, { ...ranges.get(one.range), ...one });
  return [...conditions.filter(({ kind }) => kind !== "within"), ...ranges.values()];
}

function within(
  name: string,
  text: string,
  { range, end, read: readEnd }: (typeof ends)[string],
): HistoryCondition {
  const value = readEnd(text.trim());
  if (value === undefined) throw bad(name, "must be a non-negative number");
  return end === "min" ? { kind: "within", range, min: value } : { kind: "within", range, max: value };
}

/** @throws ServiceError INVALID_REQUEST with the problem of the groups */
function groupsOf(text: string): HistoryCondition[][] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw bad("filters", "must be JSON");
  }
  const groups: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  if (groups.length === 0 || groups.length > MAX_GROUPS)
    throw bad("filters", `must have 1 to ${MAX_GROUPS} groups, got ${groups.length}`);
  const read = groups.map(groupOf);
  if (read.reduce((sum, group) => sum + group.length, 0) > MAX_CONDITIONS)
    throw bad("filters", `must have at most ${MAX_CONDITIONS} conditions`);
  return read;
}

function groupOf(group: unknown): HistoryCondition[] {
  if (typeof group !== "object" || group === null || Array.isArray(group))
    throw bad("filters", "must be an object or an array of objects");
  const conditions = Object.entries(group).map(([name, value]) => conditionOf(name, value));
  if (conditions.length === 0) throw bad("filters", "must not contain an empty group");
  return conditions;
}

function conditionOf(name: string, value: unknown): HistoryCondition {
  const path = `filters.${name}`;
  const known = Object.hasOwn(fields, name) ? fields[name] : undefined;
  const end = Object.hasOwn(ends, name) ? ends[name] : undefined;
  if (end !== undefined) {
    if (typeof value !== "string" && typeof value !== "number") throw bad(path, "must be a number");
    const { not, text } = negated(String(value));
    return { ...within(path, text, end), not };
  }
  if (known === undefined) throw bad("filters", `contains an unknown field: ${name.slice(0, 64)}`);
  if (value === null) return { kind: "null", field: known.field };
  const raw = Array.isArray(value) ? value : [value];
  if (raw.length === 0 || !raw.every((one) => typeof one === "string" || typeof one === "number"))
    throw bad(path, "must be a string, a number, null, or an array of strings and numbers");
  const texts = raw.map(String).map(negated);
  const [first] = texts;
  if (first === undefined || texts.some(({ not }) => not !== first.not))
    throw bad(path, 'must use the prefix "not:" in all its values or in none');
  if (texts.length === 1 && first.text === "null")
    return { kind: "null", field: known.field, not: first.not };
  const values = limitedValues(
    path,
    texts.map(({ text }) => text.trim()),
  );
  return {
    kind: "is",
    field: known.field,
    values: values.map((text) => read(path, text, known.read)),
    not: first.not,
  };
}

function negated(text: string): { readonly not: boolean; readonly text: string } {
  return text.startsWith("not:") ? { not: true, text: text.slice("not:".length) } : { not: false, text };
}

/** A key lists its own requests by its id; a referrer requires the key that it belongs to. */
function checkOwnKey(
  conditions: readonly HistoryCondition[],
  groups: ReadonlyArray<readonly HistoryCondition[]>,
  asker: ApiKeyIdentity | undefined,
): void {
  const all = [...conditions, ...groups.flat()];
  const isOwn = (one: HistoryCondition): boolean =>
    one.kind === "is" &&
    one.field === "apiKey" &&
    one.not !== true &&
    asker !== undefined &&
    !isPublishable(asker) &&
    one.values.every((id) => id === asker.id);
  for (const one of all) {
    if (one.kind === "within") continue;
    if (one.field === "apiKey" && !isOwn(one))
      throw new ServiceError(
        "FORBIDDEN",
        "apiKey must be the id of the secret API key that sends this request",
        {
          field: "apiKey",
        },
      );
    if (one.field === "referrer" && !conditions.some(isOwn))
      throw bad(
        "referrer",
        "must be combined with apiKey, the id of the secret API key that sends this request",
      );
  }
}

/**
 * Refuses a list without a secret key unless a condition names a request. Conditions in groups do not count,
 * because another group could match every request.
 */
function checkNamed(conditions: readonly HistoryCondition[], asker: ApiKeyIdentity | undefined): void {
  if (asker !== undefined && !isPublishable(asker)) return;
  if (conditions.some((one) => one.kind === "is" && namingFields.includes(one.field))) return;
  throw new ServiceError(
    asker === undefined ? "UNAUTHORIZED" : "FORBIDDEN",
    `Listing requests without a secret API key requires one of ${namingFields.join(", ")}; otherwise use a secret API key with scope read`,
  );
}

function valuesOf(value: Raw, isSplit: boolean): string[] {
  const texts = (typeof value === "object" ? value : [value]).flatMap((one) =>
    isSplit ? String(one).split(",") : [String(one)],
  );
  return texts.map((text) => text.trim());
}

function limitedValues(name: string, values: readonly string[]): readonly string[] {
  if (values.length > MAX_VALUES)
    throw bad(name, `must have at most ${MAX_VALUES} values, got ${values.length}`);
  return values;
}

function read(name: string, text: string, reader: (value: string) => string | undefined): string {
  const value = reader(text);
  if (value === undefined) throw bad(name, `has an invalid value: ${shown(text)}`);
  return value;
}

const shown = (text: string): string => JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);

function hash(value: string): string | undefined {
  return parseHex32(value);
}

/** A transaction id of any chain. */
function transaction(value: string): string | undefined {
  return parseAnyTransaction(value);
}

/**
 * An account of any chain family, by its bytes; EVM addresses are case-insensitive. An invalid account finds
 * nothing.
 */
function account(value: string): string | undefined {
  if (!/^[\w:.-]{1,128}$/.test(value)) return undefined;
  return parseAnyAccount(value) ?? value;
}

function chain(value: string): string | undefined {
  return wholeNumber(value) === undefined ? undefined : String(wholeNumber(value));
}

function symbol(value: string): string | undefined {
  return plain(value)?.toLowerCase();
}

/** Any text that the database can compare. */
function plain(value: string): string | undefined {
  return value.length > 0 && value.length <= 512 && !value.includes("\0") ? value : undefined;
}

const publishedFeatures: Readonly<Record<string, RequestFeature>> = {
  gasless_execution: "execution",
  fast_fill: "fast-fill",
};

/** A feature by its own name, or by the name that other services publish. */
function feature(value: string): string | undefined {
  return oneOf(requestFeatures)(publishedFeatures[value] ?? value);
}

function oneOf(words: readonly string[]): (value: string) => string | undefined {
  const known = new Set(words);
  return (value) => (known.has(value) ? value : undefined);
}

/** A decimal text, times ten to the power of `places`; further digits are cut off. */
function scaled(value: string, places: number): bigint | undefined {
  const [, whole, fraction = ""] = /^(\d{1,12})(?:\.(\d{1,18}))?$/.exec(value) ?? [];
  if (whole === undefined || (places === 0 && fraction !== "")) return undefined;
  return BigInt(whole + fraction.padEnd(places, "0").slice(0, places));
}

const plus = (value: bigint | undefined, more: bigint): bigint | undefined =>
  value === undefined ? undefined : value + more;

const bad = (field: string, reason: string): ServiceError =>
  new ServiceError("INVALID_REQUEST", `${field} ${reason}`, { field });
