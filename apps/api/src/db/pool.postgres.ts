import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { Socket } from "node:net";
import pg from "pg";
import { configureSession, DETECT_LOST_HOSTS, type SessionSettings } from "./session-settings.postgres.ts";

/** Runs named statements: on the pool, or on the connection of a transaction. */
export interface Sql {
  query(statement: Statement, values: readonly unknown[]): Promise<DriverRow[]>;
  /** The query builder on the same connection. */
  readonly db: NodePgDatabase;
  /**
   * Leaves the answer of a write to the end of the transaction, which fails if the write did. Absent outside
   * of transactions.
   */
  readonly atEnd?: (answer: Promise<unknown>) => void;
}

/** A row as the driver returns it. The definition of its statement knows the types of its values. */
export type DriverRow = Record<string, never>;

/** A named statement is parsed once per connection, and planned as {@link PoolOptions.plans} says. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** It stores announcements, which must be sent after the commit. */
  readonly announces?: boolean;
}

export interface PoolOptions {
  readonly max: number;
  readonly statementTimeoutMs: number;
  readonly applicationName: string;
  /**
   * `once` (default): a connection plans a statement once, without its values, and again when statistics or
   * tables change. `per use`: Postgres may plan it for the values of each use, for searches and reports whose
   * plans depend on them.
   */
  readonly plans?: "once" | "per use";
}

/**
 * By default, Postgres plans statements with array parameters at each use, which takes longer than running
 * them. A cached plan outlives the table sizes it was made for: all but tiny tables must use their indexes.
 */
const PLANS = {
  once: { plan_cache_mode: "force_generic_plan", random_page_cost: 1.1 },
  "per use": { plan_cache_mode: "auto" },
} satisfies Record<NonNullable<PoolOptions["plans"]>, SessionSettings>;

/** How much longer than the server the client waits for the end of a statement. */
const ANSWER_GRACE_MS = 5_000;
/**
 * Shorter than lanes stay closed after a failover (`SETTLE_MS`): no idle connection to a lost server may be
 * left by then. Not much shorter, because a new connection parses and plans every statement again.
 */
const IDLE_CONNECTION_MS = 45_000;
const INT8 = 20;
const NUMERIC = 1700;
const TEXT_ARRAY = 1009;

/**
 * A pool whose `bigint` columns come as numbers (ids, heights and milliseconds stay below 2^53) and `numeric`
 * ones as bigint (amounts).
 */
export function createPool(connectionString: string, options: PoolOptions): pg.Pool {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  types.setTypeParser(NUMERIC, BigInt);
  types.setTypeParser(TEXT_ARRAY, parseTextArray);
  const pool = new pg.Pool({
    connectionString,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    // Over a cut network the server's error never arrives: without this, the caller would wait forever.
    query_timeout: options.statementTimeoutMs + ANSWER_GRACE_MS,
    onConnect: async (client) =>
      await configureSession(client, {
        ...DETECT_LOST_HOSTS,
        // A statement that takes this long is stuck; its work is retried from the committed state.
        statement_timeout: options.statementTimeoutMs,
        // A process that is frozen in a transaction must not keep its row locks from the next leader.
        idle_in_transaction_session_timeout: 10_000,
        ...PLANS[options.plans ?? "once"],
      }),
    // Statements of a transaction are sent without waiting for the answers of earlier ones.
    pipeline: true,
    stream: () => new BatchingSocket(),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  });
  // Idle connections report a lost server only to the pool: without a listener the process would end. The
  // next query gets the error itself.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

// The driver's declarations lack the number of this type.
const driver: { getTypeParser(oid: number): (text: string) => (string | null)[] } = pg.types;
const parseAnyTextArray = driver.getTypeParser(TEXT_ARRAY);

/** Splits arrays without quotes, such as hashes and names: the driver's parser reads each character. */
export function parseTextArray(text: string): (string | null)[] {
  if (text === "{}") return [];
  return /^\{[^"{}\\]*\}$/.test(text) && !/null/i.test(text)
    ? text.slice(1, -1).split(",")
    : parseAnyTextArray(text);
}

/** Sends everything written in one turn of the event loop with one system call. */
class BatchingSocket extends Socket {
  #isWaiting = false;

  override cork(): void {
    super.cork();
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    super.cork();
    process.nextTick(() => {
      this.#isWaiting = false;
      this.uncork();
    });
  }
}

export type Connection = pg.Pool | pg.PoolClient | pg.Client;

const builders = new WeakMap<Connection, NodePgDatabase>();

/** One query builder per connection, because it keeps the queries prepared there. */
function builderOn(client: Connection): NodePgDatabase {
  const existing = builders.get(client);
  if (existing !== undefined) return existing;
  const db = drizzle(client);
  builders.set(client, db);
  return db;
}

/** Runs statements on a pool or on one connection. */
export function sqlOn(client: Connection): Sql {
  return {
    db: builderOn(client),
    async query({ name, text }, values) {
      const { rows } = await client.query({ name, text, values: [...values] });
      return rows;
    },
  };
}
