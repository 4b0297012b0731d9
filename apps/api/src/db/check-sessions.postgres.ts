import { StartProblem } from "@causeway/service-kit";
import { sql as text } from "drizzle-orm";
import { randomBytes } from "node:crypto";
import pg from "pg";
import { CONNECTED_WITHIN_MS } from "./database-problem.postgres.ts";
import { runSql } from "./define-query.postgres.ts";
import { sqlOn } from "./pool.postgres.ts";

/** How long an announcement may take from one connection to another. */
const ANNOUNCEMENT_TIMEOUT_MS = 3_000;

/** A pooler between this process and Postgres gives connections to other clients between transactions. */
export class SessionsNotKept extends StartProblem {
  override readonly name = "SessionsNotKept";
  readonly finding: string;

  constructor(finding: string) {
    super(
      `DATABASE_URL must keep one Postgres session per connection, but ${finding}. Session locks, LISTEN and prepared statements fail ` +
        "behind a pooler in transaction mode (PgBouncer pool_mode=transaction, Supabase port 6543): set DATABASE_URL to the server itself or to a pooler in session mode",
    );
    this.finding = finding;
  }
}

export interface ServerLimits {
  /** Connections that the server accepts from this role. */
  readonly maxConnections: number;
}

/**
 * Checks that connections keep their sessions. A pooler often gives an idle client the same session again, so
 * two clients take turns: a shared session, a changed session or a lost announcement reveals a pooler.
 * @throws SessionsNotKept
 */
export async function checkSessions(connectionString: string): Promise<ServerLimits> {
  const newClient = (): pg.Client =>
    new pg.Client({
      connectionString,
      application_name: "causeway session check",
      connectionTimeoutMillis: CONNECTED_WITHIN_MS,
      query_timeout: 10_000,
    });
  const [first, second] = [newClient(), newClient()];
  // Each statement rejects with the error; without a listener, the process would end.
  for (const client of [first, second]) client.on("error", () => undefined);
  try {
    await Promise.all([first.connect(), second.connect()]);
    const pid = await backendOf(first);
    if ((await backendOf(second)) === pid) throw new SessionsNotKept("two connections share a session");
    const channel = `causeway_check_${randomBytes(8).toString("hex")}`;
    const announced = new Promise<boolean>((resolve) => {
      first.once("notification", () => resolve(true));
    });
    await first.query(`listen ${channel}`);
    await second.query("begin");
    const pidDuring = await backendOf(first);
    await second.query("commit");
    if (pidDuring !== pid || (await backendOf(first)) !== pid)
      throw new SessionsNotKept("the session of a connection changes");
    await second.query("select pg_notify($1, '')", [channel]);
    const timeout = AbortSignal.timeout(ANNOUNCEMENT_TIMEOUT_MS);
    const timedOut = new Promise<boolean>((resolve) => {
      timeout.addEventListener("abort", () => resolve(false));
    });
    if (!(await Promise.race([announced, timedOut])))
      throw new SessionsNotKept("an announcement (NOTIFY) does not arrive");
    const [limit] = await runSql(
      sqlOn(second),
      { connections: Number },
      text`select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as connections`,
    );
    return { maxConnections: limit?.connections ?? 0 };
  } finally {
    await Promise.all([first, second].map(async (client) => await client.end().catch(() => undefined)));
  }
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  const [row] = await runSql(sqlOn(client), { pid: Number }, text`select pg_backend_pid() as pid`);
  return row?.pid;
}
