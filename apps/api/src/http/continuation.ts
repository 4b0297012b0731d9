import { ServiceError } from "@causeway/domain";
import { wholeNumber } from "@causeway/wire";
import type { Page, PlaceInTime } from "../db/page.port.ts";

const DEFAULT_LIMIT = 20;

export interface PageQuestion {
  readonly limit?: number | string | undefined;
  readonly continuation?: string | undefined;
}

/**
 * A page of rows that have numbers; `cursor` is the number of the row before it.
 *
 * @throws ServiceError INVALID_REQUEST
 */
export function pageOfNumbers(
  query: PageQuestion & { readonly cursor?: number | string | undefined },
): Page<string> {
  if (query.cursor !== undefined) return { limit: limitOf(query), after: String(query.cursor) };
  const after = query.continuation === undefined ? undefined : decoded(query.continuation);
  if (after !== undefined && !/^\d{1,18}$/.test(after)) throw malformed();
  return { limit: limitOf(query), after };
}

/** A page of rows that have a time and a hash. @throws ServiceError INVALID_REQUEST */
export function pageInTime(query: PageQuestion): Page<PlaceInTime> {
  if (query.continuation === undefined) return { limit: limitOf(query), after: undefined };
  const [, atMs, id] = /^(\d{1,15}) (0x[0-9a-f]{64})$/.exec(decoded(query.continuation)) ?? [];
  if (atMs === undefined || id === undefined) throw malformed();
  return { limit: limitOf(query), after: { atMs: Number(atMs), id } };
}

/** The continuation of a full page. Empty for a page that is not full, because it is the last page. */
export function continuationOf<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string,
): { readonly continuation?: string } {
  const last = rows.at(-1);
  if (last === undefined || rows.length < limit) return {};
  return { continuation: Buffer.from(placeOf(last)).toString("base64url") };
}

export function placeText({ atMs, id }: PlaceInTime): string {
  return `${atMs} ${id}`;
}

function limitOf({ limit }: PageQuestion): number {
  const asked = limit === undefined ? DEFAULT_LIMIT : (wholeNumber(limit) ?? 0);
  if (asked < 1) throw new ServiceError("INVALID_REQUEST", "limit must be at least 1", { field: "limit" });
  return asked;
}

function decoded(continuation: string): string {
  return Buffer.from(continuation, "base64url").toString("latin1");
}

const malformed = (): ServiceError =>
  new ServiceError("INVALID_REQUEST", "continuation is not valid; copy it unchanged from the previous page", {
    field: "continuation",
  });
