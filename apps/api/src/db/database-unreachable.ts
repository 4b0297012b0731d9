const UNREACHABLE: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "ENOENT",
  "EPIPE",
]);
/** Messages of driver errors without a code. */
const CONNECTION_LOST =
  /timeout expired|terminated unexpectedly|timeout exceeded when trying to connect|due to connection timeout/;

/**
 * Why an error of the driver means that the server could not be reached: its code, else its message.
 * Undefined: the error means something else. A host with two addresses that both refuse gives an error with a
 * code and without a message.
 */
export function databaseUnreachableReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error ? String(error.code) : "";
  // A missing file has a path; the missing socket of a server has an address.
  if (UNREACHABLE.has(code) && !(code === "ENOENT" && "path" in error)) return code;
  if (!CONNECTION_LOST.test(error.message)) return undefined;
  return code === "" ? error.message : code;
}

/** Codes of Postgres: connection failures, insufficient resources, and interventions, such as a timeout. */
const NOT_SERVED = /^(?:08|53|57)/;

/** Whether the server is unreachable or did not answer in time: another statement would wait as long. */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isNotServed = "code" in error && NOT_SERVED.test(String(error.code));
  return (
    isNotServed || error.message === "Query read timeout" || databaseUnreachableReason(error) !== undefined
  );
}
