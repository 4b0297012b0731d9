import { databaseUnreachableReason } from "../../db/database-unreachable.ts";

/**
 * The text that a failed command prints. The service's errors contain no secret; errors of the database
 * driver may contain a host.
 * @param context precedes the message, unless the database is unreachable
 */
export function failureText(error: unknown, context = ""): string {
  const reason = databaseUnreachableReason(error);
  return reason === undefined
    ? `${context}${messageOf(error)}`
    : `the database could not be reached: ${reason}`;
}

/** An `AggregateError` may have a code but no message. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === "" && "code" in error ? String(error.code) : error.message;
}
