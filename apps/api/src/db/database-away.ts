const AWAY: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "ENOENT",
]);
/** What the driver reports without a code. */
const CONNECTION_LOST =
  /timeout expired|terminated unexpectedly|timeout exceeded when trying to connect|due to connection timeout/;

/**
 * Why an error of the driver means that the server could not be reached: its code, else its message.
 * Undefined: the error means something else. A host with two addresses that both refuse gives an error with a
 * code and without a message.
 */
export function whyDatabaseAway(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error ? String(error.code) : "";
  // A missing file has a path; the missing socket of a server has an address.
  if (AWAY.has(code) && !(code === "ENOENT" && "path" in error)) return code;
  if (!CONNECTION_LOST.test(error.message)) return undefined;
  return code === "" ? error.message : code;
}

/** Code of Postgres for a statement that took longer than `statement_timeout`. */
const QUERY_CANCELED = "57014";

/** Whether the server is unreachable or did not answer in time: another statement would wait as long. */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isLate = "code" in error && error.code === QUERY_CANCELED;
  return isLate || error.message === "Query read timeout" || whyDatabaseAway(error) !== undefined;
}
