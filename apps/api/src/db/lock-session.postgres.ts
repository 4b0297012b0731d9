import { sql as text } from "drizzle-orm";
import { Socket } from "node:net";
import pg from "pg";
import { defineSql, type Params } from "./define-query.postgres.ts";
import { sqlOn } from "./pool.postgres.ts";
import { configureSession } from "./session-settings.postgres.ts";

export interface LockTiming {
  /** Pause between two heartbeats, ms. Each one also requests the wanted locks. */
  readonly beatMs: number;
  /** The locks are given up when no heartbeat sent within this time was answered, ms. */
  readonly leaseMs: number;
  /**
   * The server ends the session, and frees its locks, when no heartbeat arrives within this time, ms. Must
   * exceed `leaseMs`.
   */
  readonly sessionIdleMs: number;
}

/**
 * One connection that holds advisory locks and does nothing else, so that no slow statement can delay a
 * heartbeat.
 */
export interface LockSession {
  /** Aborts when another process may hold the locks: the connection ended, or the lease ran out. */
  readonly lost: AbortSignal;
  /** Takes those of the named locks that are free, and renews the lease. No statement waits for a lock. */
  take(names: readonly string[]): Promise<readonly string[]>;
  release(name: string): Promise<void>;
  end(): void;
}

/**
 * A statement that waits for a lock would keep its snapshot, and vacuum could remove nothing newer in the
 * whole database.
 */
const take = defineSql(
  "leader_locks_take",
  { name: String },
  (p: Params<{ names: readonly string[] }>) => text`select name from unnest(${p.names}::text[]) as name
    where pg_try_advisory_lock(hashtextextended('causeway:' || name, 0))`,
);
const release = defineSql(
  "leader_locks_release",
  {},
  (p: Params<{ name: string }>) =>
    text`select pg_advisory_unlock(hashtextextended('causeway:' || ${p.name}, 0))`,
);

/** @throws when the server cannot be reached within the lease */
export async function openLockSession(
  connectionString: string,
  { leaseMs, sessionIdleMs }: Pick<LockTiming, "leaseMs" | "sessionIdleMs">,
): Promise<LockSession> {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString,
    application_name: "causeway leader locks",
    connectionTimeoutMillis: leaseMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: leaseMs,
    stream: () => socket,
  });
  const sql = sqlOn(client);
  const lost = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const lose = (reason: string, cause?: unknown): void => {
    clearTimeout(timer);
    lost.abort(new Error(reason, { cause }));
    // A graceful end waits for the server, which may be unreachable.
    socket.destroy();
  };
  client.on("error", (error) => lose("the leader lock connection failed", error));
  client.on("end", () => lose("the leader lock connection was closed"));
  const renew = (sentAtMs: number): void => {
    clearTimeout(timer);
    const expire = (): void =>
      lose(`no heartbeat response on the leader lock connection within ${leaseMs} ms`);
    const leftMs = sentAtMs + leaseMs - performance.now();
    // After a pause of the whole process the answer may be late: the server has ended the session by then.
    if (leftMs <= 0) expire();
    else timer = setTimeout(expire, leftMs);
  };

  let previous: Promise<unknown> = Promise.resolve();
  const inTurn = <Answer>(run: () => Promise<Answer>): Promise<Answer> => {
    const answer = previous.then(async () => {
      lost.signal.throwIfAborted();
      // The server counts its time from the arrival, which is later: the lease ends first.
      const sentAtMs = performance.now();
      try {
        const result = await run();
        renew(sentAtMs);
        lost.signal.throwIfAborted();
        return result;
      } catch (error) {
        lose("a statement on the leader lock connection failed", error);
        throw error;
      }
    });
    previous = answer.catch(() => undefined);
    return answer;
  };

  try {
    renew(performance.now());
    await client.connect();
    const seconds = Math.ceil(leaseMs / 2_000);
    await configureSession(
      { query: (text, values) => inTurn(() => client.query(text, [...values])) },
      {
        // Covers what TCP cannot see: a process that is stopped still acknowledges packets.
        idle_session_timeout: sessionIdleMs,
        // These end the session of a lost host earlier than Linux would.
        tcp_keepalives_idle: seconds,
        tcp_keepalives_interval: seconds,
        tcp_keepalives_count: 2,
        tcp_user_timeout: sessionIdleMs,
      },
    );
  } catch (error) {
    lose("the leader lock connection could not be opened", error);
    throw error;
  }
  return {
    lost: lost.signal,
    async take(names): Promise<readonly string[]> {
      return (await inTurn(() => take(sql, { names }))).map(({ name }) => name);
    },
    async release(name): Promise<void> {
      await inTurn(() => release(sql, { name }));
    },
    end: () => lose("the leader locks were released"),
  };
}
