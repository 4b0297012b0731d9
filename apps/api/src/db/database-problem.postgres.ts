import { StartProblem } from "@causeway/service-kit";
import pg from "pg";
import { databaseUnreachableReason } from "./database-unreachable.ts";

/** Timeout for opening a connection at startup. */
export const CONNECTED_WITHIN_MS = 10_000;

/**
 * Runs startup work that needs the database.
 * @throws StartProblem with one sentence and the remedy if the server is unreachable or refuses; other errors
 * unchanged
 */
export async function withDatabaseProblems<T>(databaseUrl: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const sentence = explain(error, databaseUrl);
    throw sentence === undefined ? error : new StartProblem(sentence, { cause: error });
  }
}

function explain(error: unknown, databaseUrl: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error ? String(error.code) : "";
  const server = serverOf(databaseUrl);
  // The message of Postgres names the role or the database, but never the password.
  const report = `Postgres at ${server} reports: ${error.message}`;
  const unreachableReason = databaseUnreachableReason(error);
  if (unreachableReason !== undefined)
    return `Postgres does not respond at ${server} (${unreachableReason}): start it, or correct DATABASE_URL`;
  if (!(error instanceof pg.DatabaseError)) return undefined;
  const remedy = REMEDIES[code];
  return remedy === undefined ? undefined : `${report}: ${remedy}`;
}

/** By Postgres error code or its class. */
const REMEDIES: Readonly<Record<string, string | undefined>> = {
  "28P01": "correct the user or the password in DATABASE_URL",
  "28000": "create that role, or correct the user in DATABASE_URL",
  "3D000": "create that database, or correct its name in DATABASE_URL",
  "42501": "grant it to the role in DATABASE_URL",
  "53300": "raise max_connections, or lower DATABASE_POOL_SIZE of the processes",
  "57P03": "wait until it has started, then start again",
};

/** Host, port and database, without user and password. */
function serverOf(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  if (url === null) return "the address in DATABASE_URL";
  const host = url.searchParams.get("host") ?? (url.hostname === "" ? "localhost" : url.hostname);
  return `${host}:${url.port === "" ? "5432" : url.port}${url.pathname}`;
}
