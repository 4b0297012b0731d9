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
  id: { field: "id", read: readHash },
  orderId: { field: "orderId", read: readHash },
  user: { field: "user", read: readAccount },
  recipient: { field: "recipient", read: readAccount },
  term: { field: "term", read: (value) => parseAnyTransaction(value) ?? readAccount(value) },
  hash: { field: "hash", read: readTransaction },
  depositTxHash: { field: "depositTxHash", read: readTransaction },
  fillTxHash: { field: "fillTxHash", read: readTransaction },
  refundTxHash: { field: "refundTxHash", read: readTransaction },
  depositAddress: { field: "depositAddress", read: readAccount },
  originChainId: { field: "originChainId", read: readChainId },
  destinationChainId: { field: "destinationChainId", read: readChainId },
  chainId: { field: "chainId", read: readChainId },
  status: { field: "status", read: oneOf(publicStatuses) },
  failReason: { field: "failReason", read: oneOf(failReasons) },
  refundFailReason: { field: "refundFailReason", read: oneOf(refundFailReasons) },
  requestType: { field: "requestType", read: oneOf(requestTypes) },
  apiKey: { field: "apiKey", read: readText },
  referrer: { field: "referrer", read: readText },
  currencyInChainId: { field: "originChainId", read: readChainId },
  currencyOutChainId: { field: "destinationChainId", read: readChainId },
  currencyInAddress: { field: "currencyInAddress", read: readAccount },
  currencyOutAddress: { field: "currencyOutAddress", read: readAccount },
  currencyInSymbol: { field: "currencyInSymbol", read: readSymbol },
  currencyOutSymbol: { field: "currencyOutSymbol", read: readSymbol },
  features: { field: "features", read: readFeature },
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
  startTimestamp: { range: "createdAt", end: "min", read: (value) => readDecimal(value, 3) },
  // Includes the whole second.
  endTimestamp: { range: "createdAt", end: "max", read: (value) => add(readDecimal(value, 3), 999n) },
  startBlock: { range: "block", end: "min", read: (value) => readDecimal(value, 0) },
  endBlock: { range: "block", end: "max", read: (value) => readDecimal(value, 0) },
  amountUsdMin: { range: "amountUsd", end: "min", read: (value) => readDecimal(value, 6) },
  amountUsdMax: { range: "amountUsd", end: "max", read: (value) => readDecimal(value, 6) },
  appFeesAmountUsdMin: { range: "appFeesAmountUsd", end: "min", read: (value) => readDecimal(value, 6) },
  appFeesAmountUsdMax: { range: "appFeesAmountUsd", end: "max", read: (value) => readDecimal(value, 6) },
  fillTimeMin: { range: "fillTime", end: "min", read: (value) => readDecimal(value, 3) },
  fillTimeMax: { range: "fillTime", end: "max", read: (value) => readDecimal(value, 3) },
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
export function questionOf(query: RequestsQuery, caller: ApiKeyIdentity | undefined): ListQuestion {
  const conditions = conditionsOf(query);
  const groups = query.filters === undefined ? [] : groupsOf(query.filters);
  checkOwnKey(conditions, groups, caller);
  checkNamed(conditions, caller);
  const isAscending = query.sortDirection === "asc";
  const limit = query.limit === undefined ? DEFAULT_LIMIT : (wholeNumber(query.limit) ?? 0);
  if (limit < 1) throw invalid("limit", "must be at least 1");
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
    throw invalid("continuation", "is not valid; copy it unchanged from the previous page");
  if (word !== orderWord(sort, isAscending))
    throw invalid(
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
    const parameter = fields[name];
    if (parameter !== undefined)
      conditions.push({
        kind: "is",
        field: parameter.field,
        values: limitedValues(name, valuesOf(value as Raw, name !== "referrer")).map((text) =>
          readValue(name, text, parameter.read),
        ),
      });
    const end = ends[name];
    if (end !== undefined && (typeof value === "string" || typeof value === "number"))
      conditions.push(within(name, String(value), end));
  }
  return mergeRanges(conditions);
}

/** Merges the two ends of a range into one condition: the database estimates better with both. */
function mergeRanges(conditions: readonly HistoryCondition[]): HistoryCondition[] {
  const ranges = new Map<HistoryRange, Extract<HistoryCondition, { kind: "within" }>>();
  for (const condition of conditions)
    if (condition.kind === "within")
      ranges.set(condition.range, { ...ranges.get(condition.range), ...condition });
  return [...conditions.filter(({ kind }) => kind !== "within"), ...ranges.values()];
}

function within(
  name: string,
  text: string,
  { range, end, read: readEnd }: (typeof ends)[string],
): HistoryCondition {
  const value = readEnd(text.trim());
  if (value === undefined) throw invalid(name, "must be a non-negative number");
  return end === "min" ? { kind: "within", range, min: value } : { kind: "within", range, max: value };
}

/** @throws ServiceError INVALID_REQUEST with the problem of the groups */
function groupsOf(text: string): HistoryCondition[][] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw invalid("filters", "must be JSON");
  }
  const groups: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  if (groups.length === 0 || groups.length > MAX_GROUPS)
    throw invalid("filters", `must have 1 to ${MAX_GROUPS} groups, got ${groups.length}`);
  const parsedGroups = groups.map(groupOf);
  if (parsedGroups.reduce((sum, group) => sum + group.length, 0) > MAX_CONDITIONS)
    throw invalid("filters", `must have at most ${MAX_CONDITIONS} conditions`);
  return parsedGroups;
}

function groupOf(group: unknown): HistoryCondition[] {
  if (typeof group !== "object" || group === null || Array.isArray(group))
    throw invalid("filters", "must be an object or an array of objects");
  const conditions = Object.entries(group).map(([name, value]) => conditionOf(name, value));
  if (conditions.length === 0) throw invalid("filters", "must not contain an empty group");
  return conditions;
}

function conditionOf(name: string, value: unknown): HistoryCondition {
  const path = `filters.${name}`;
  const parameter = Object.hasOwn(fields, name) ? fields[name] : undefined;
  const end = Object.hasOwn(ends, name) ? ends[name] : undefined;
  if (end !== undefined) {
    if (typeof value !== "string" && typeof value !== "number") throw invalid(path, "must be a number");
    const { not, text } = parseNegation(String(value));
    return { ...within(path, text, end), not };
  }
  if (parameter === undefined) throw invalid("filters", `contains an unknown field: ${name.slice(0, 64)}`);
  if (value === null) return { kind: "null", field: parameter.field };
  const raw = Array.isArray(value) ? value : [value];
  if (raw.length === 0 || !raw.every((item) => typeof item === "string" || typeof item === "number"))
    throw invalid(path, "must be a string, a number, null, or an array of strings and numbers");
  const texts = raw.map(String).map(parseNegation);
  const [first] = texts;
  if (first === undefined || texts.some(({ not }) => not !== first.not))
    throw invalid(path, 'must use the prefix "not:" in all its values or in none');
  if (texts.length === 1 && first.text === "null")
    return { kind: "null", field: parameter.field, not: first.not };
  const values = limitedValues(
    path,
    texts.map(({ text }) => text.trim()),
  );
  return {
    kind: "is",
    field: parameter.field,
    values: values.map((text) => readValue(path, text, parameter.read)),
    not: first.not,
  };
}

function parseNegation(text: string): { readonly not: boolean; readonly text: string } {
  return text.startsWith("not:") ? { not: true, text: text.slice("not:".length) } : { not: false, text };
}

/** A key lists its own requests by its id; a referrer requires the key that it belongs to. */
function checkOwnKey(
  conditions: readonly HistoryCondition[],
  groups: ReadonlyArray<readonly HistoryCondition[]>,
  caller: ApiKeyIdentity | undefined,
): void {
  const all = [...conditions, ...groups.flat()];
  const isOwn = (condition: HistoryCondition): boolean =>
    condition.kind === "is" &&
    condition.field === "apiKey" &&
    condition.not !== true &&
    caller !== undefined &&
    !isPublishable(caller) &&
    condition.values.every((id) => id === caller.id);
  for (const condition of all) {
    if (condition.kind === "within") continue;
    if (condition.field === "apiKey" && !isOwn(condition))
      throw new ServiceError(
        "FORBIDDEN",
        "apiKey must be the id of the secret API key that sends this request",
        {
          field: "apiKey",
        },
      );
    if (condition.field === "referrer" && !conditions.some(isOwn))
      throw invalid(
        "referrer",
        "must be combined with apiKey, the id of the secret API key that sends this request",
      );
  }
}

/**
 * Refuses a list without a secret key unless a condition names a request. Conditions in groups do not count,
 * because another group could match every request.
 */
function checkNamed(conditions: readonly HistoryCondition[], caller: ApiKeyIdentity | undefined): void {
  if (caller !== undefined && !isPublishable(caller)) return;
  if (conditions.some((condition) => condition.kind === "is" && namingFields.includes(condition.field)))
    return;
  throw new ServiceError(
    caller === undefined ? "UNAUTHORIZED" : "FORBIDDEN",
    `Listing requests without a secret API key requires one of ${namingFields.join(", ")}; otherwise use a secret API key with scope read`,
  );
}

function valuesOf(value: Raw, isSplit: boolean): string[] {
  const texts = (typeof value === "object" ? value : [value]).flatMap((item) =>
    isSplit ? String(item).split(",") : [String(item)],
  );
  return texts.map((text) => text.trim());
}

function limitedValues(name: string, values: readonly string[]): readonly string[] {
  if (values.length > MAX_VALUES)
    throw invalid(name, `must have at most ${MAX_VALUES} values, got ${values.length}`);
  return values;
}

function readValue(name: string, text: string, reader: (value: string) => string | undefined): string {
  const value = reader(text);
  if (value === undefined) throw invalid(name, `has an invalid value: ${quoteValue(text)}`);
  return value;
}

const quoteValue = (text: string): string =>
  JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);

function readHash(value: string): string | undefined {
  return parseHex32(value);
}

/** A transaction id of any chain. */
function readTransaction(value: string): string | undefined {
  return parseAnyTransaction(value);
}

/**
 * An account of any chain family, by its bytes; EVM addresses are case-insensitive. An invalid account finds
 * nothing.
 */
function readAccount(value: string): string | undefined {
  if (!/^[\w:.-]{1,128}$/.test(value)) return undefined;
  return parseAnyAccount(value) ?? value;
}

function readChainId(value: string): string | undefined {
  return wholeNumber(value) === undefined ? undefined : String(wholeNumber(value));
}

function readSymbol(value: string): string | undefined {
  return readText(value)?.toLowerCase();
}

/** Any text that the database can compare. */
function readText(value: string): string | undefined {
  return value.length > 0 && value.length <= 512 && !value.includes("\0") ? value : undefined;
}

const publishedFeatures: Readonly<Record<string, RequestFeature>> = {
  gasless_execution: "execution",
  fast_fill: "fast-fill",
};

/** A feature by its own name, or by the name that other services publish. */
function readFeature(value: string): string | undefined {
  return oneOf(requestFeatures)(publishedFeatures[value] ?? value);
}

function oneOf(words: readonly string[]): (value: string) => string | undefined {
  const accepted = new Set(words);
  return (value) => (accepted.has(value) ? value : undefined);
}

/** A decimal text, times ten to the power of `places`; further digits are cut off. */
function readDecimal(value: string, places: number): bigint | undefined {
  const [, whole, fraction = ""] = /^(\d{1,12})(?:\.(\d{1,18}))?$/.exec(value) ?? [];
  if (whole === undefined || (places === 0 && fraction !== "")) return undefined;
  return BigInt(whole + fraction.padEnd(places, "0").slice(0, places));
}

const add = (value: bigint | undefined, addend: bigint): bigint | undefined =>
  value === undefined ? undefined : value + addend;

const invalid = (field: string, reason: string): ServiceError =>
  new ServiceError("INVALID_REQUEST", `${field} ${reason}`, { field });
