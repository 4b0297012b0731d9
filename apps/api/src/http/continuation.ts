import { ServiceError } from "@causeway/domain";
import { wholeNumber } from "@causeway/wire";
import type { Page, TimeCursor } from "../db/page.port.ts";

const DEFAULT_LIMIT = 20;

export interface PageQuestion {
  readonly limit?: number | string | undefined;
  readonly continuation?: string | undefined;
}

/**
 * A page of numbered rows, starting after the row with number `cursor`, if set.
 *
 * @throws ServiceError INVALID_REQUEST
 */
export function pageByNumber(
  query: PageQuestion & { readonly cursor?: number | string | undefined },
): Page<string> {
  if (query.cursor !== undefined) return { limit: limitOf(query), after: String(query.cursor) };
  const after = query.continuation === undefined ? undefined : decode(query.continuation);
  if (after !== undefined && !/^\d{1,18}$/.test(after)) throw malformedContinuation();
  return { limit: limitOf(query), after };
}

/** A page of rows that have a time and a hash. @throws ServiceError INVALID_REQUEST */
export function pageByTime(query: PageQuestion): Page<TimeCursor> {
  if (query.continuation === undefined) return { limit: limitOf(query), after: undefined };
  const [, atMs, id] = /^(\d{1,15}) (0x[0-9a-f]{64})$/.exec(decode(query.continuation)) ?? [];
  if (atMs === undefined || id === undefined) throw malformedContinuation();
  return { limit: limitOf(query), after: { atMs: Number(atMs), id } };
}

/** The continuation of a full page. Empty for a page that is not full, because it is the last page. */
export function continuationOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string,
): { readonly continuation?: string } {
  const last = rows.at(-1);
  if (last === undefined || rows.length < limit) return {};
  return { continuation: Buffer.from(cursorOf(last)).toString("base64url") };
}

export function cursorText({ atMs, id }: TimeCursor): string {
  return `${atMs} ${id}`;
}

function limitOf({ limit }: PageQuestion): number {
  const parsed = limit === undefined ? DEFAULT_LIMIT : (wholeNumber(limit) ?? 0);
  if (parsed < 1) throw new ServiceError("INVALID_REQUEST", "limit must be at least 1", { field: "limit" });
  return parsed;
}

function decode(continuation: string): string {
  return Buffer.from(continuation, "base64url").toString("latin1");
}

const malformedContinuation = (): ServiceError =>
  new ServiceError("INVALID_REQUEST", "continuation is not valid; copy it unchanged from the previous page", {
    field: "continuation",
  });
