import { findingsOf, type Finding, type Gathered } from "./finding.ts";

/** Facts from a database server. */
export interface PostgresFacts {
  /** Such as 180001. */
  readonly versionNumber: number;
  readonly isInRecovery: boolean;
  readonly synchronousCommit: string;
  /** `synchronous_standby_names`; empty: replication is asynchronous. */
  readonly synchronousStandbys: string;
  /** Connected standbys. */
  readonly standbys: number;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  /** Connections that the server accepts from ordinary roles. */
  readonly maxConnections: number;
  /** Names of this version's migrations that are not applied. */
  readonly missingMigrations: readonly string[];
  /** Why connections do not keep their sessions. Undefined: connections keep their sessions. */
  readonly sessionProblem: string | undefined;
  /** Webhook endpoints whose last delivery failed. */
  readonly failingWebhooks: number;
}

const MIN_VERSION = 15;
const TESTED_VERSION = 18;

/** @param needed connections that one API and one worker need together */
export function judgePostgres(
  host: string,
  gathered: Gathered<PostgresFacts>,
  needed: number,
): readonly Finding[] {
  const on = (check: string) => findingsOf(`postgres.${check}`, host);
  if (gathered.kind === "unreachable")
    return [
      on("reachable").problem({
        found: gathered.reason,
        why: "no process starts: Postgres stores all state",
        remedy: "start Postgres, or correct DATABASE_URL",
      }),
    ];
  const { facts } = gathered;
  return [
    on("reachable").ok("the server answers"),
    judgeVersion(host, facts.versionNumber),
    facts.isInRecovery
      ? on("primary").problem({
          found: "the server is a standby, which accepts no writes",
          why: "every quote, deposit and payment fails",
          remedy: "set DATABASE_URL to the primary",
        })
      : on("primary").ok("the server accepts writes"),
    facts.sessionProblem === undefined
      ? on("sessions").ok("connections keep their sessions")
      : on("sessions").problem({
          found: facts.sessionProblem,
          why: "two workers could lead the same chain: leader locks belong to a session",
          remedy:
            "set DATABASE_URL to the server itself, or to a pooler in session mode (PgBouncer pool_mode=session)",
        }),
    judgeCommit(host, facts),
    judgeReplication(host, facts),
    facts.fsync && facts.fullPageWrites
      ? on("durability").ok("fsync and full_page_writes are on")
      : on("durability").problem({
          found: `fsync is ${onOff(facts.fsync)} and full_page_writes is ${onOff(facts.fullPageWrites)}; both must be on`,
          why: "after a crash of the server, payments that were broadcast may be missing and be made again",
          remedy:
            "alter system set fsync = on; alter system set full_page_writes = on; select pg_reload_conf()",
        }),
    facts.maxConnections < needed
      ? on("connections").problem({
          found: `the server accepts ${facts.maxConnections} connections, and one API and one worker need up to ${needed}`,
          why: "requests and payments wait or fail under load",
          remedy: "raise max_connections and restart Postgres, or lower DATABASE_POOL_SIZE",
        })
      : on("connections").ok(`${facts.maxConnections} connections, at least ${needed} needed`),
    facts.missingMigrations.length > 0
      ? on("migrations").problem({
          found: `${facts.missingMigrations.length} migrations are missing (first: ${facts.missingMigrations[0]})`,
          why: "API and worker do not start",
          remedy: "run the migration: docker compose run --rm migrate, or node dist/migrate.js",
        })
      : on("migrations").ok("all migrations of this version are applied"),
    facts.failingWebhooks > 0
      ? findingsOf("webhooks", "callers").warning({
          found: `${facts.failingWebhooks} webhook endpoints failed at their last delivery`,
          why: "the callers behind them do not learn about their requests",
          remedy: "npm run operator -- webhooks shows the endpoints and errors; inform the callers",
        })
      : findingsOf("webhooks", "callers").ok("no webhook endpoint is failing"),
  ];
}

function judgeVersion(host: string, versionNumber: number): Finding {
  const version = findingsOf("postgres.version", host);
  const major = Math.floor(versionNumber / 10_000);
  if (major >= TESTED_VERSION) return version.ok(`Postgres ${major}`);
  const fault = {
    found: `the server is Postgres ${major}, expected ${TESTED_VERSION}`,
    why: "this version of the service is tested with Postgres 18 only",
    remedy: "upgrade the server (pg_upgrade) before the next release",
  };
  return major < MIN_VERSION ? version.problem(fault) : version.warning(fault);
}

function judgeCommit(host: string, { synchronousCommit }: PostgresFacts): Finding {
  const commit = findingsOf("postgres.synchronous-commit", host);
  return synchronousCommit === "off"
    ? commit.problem({
        found: "synchronous_commit is off",
        why: "after a crash, payments that were already broadcast may be missing and be made again",
        remedy: "alter system set synchronous_commit = on; select pg_reload_conf()",
      })
    : commit.ok(`synchronous_commit is ${synchronousCommit}`);
}

function judgeReplication(
  host: string,
  { standbys, synchronousStandbys, synchronousCommit }: PostgresFacts,
): Finding {
  const replication = findingsOf("postgres.replication", host);
  if (synchronousStandbys === "")
    return standbys === 0
      ? replication.ok("no standby is connected")
      : replication.warning({
          found: `${standbys} standbys are connected, and synchronous_standby_names is empty`,
          why: "a failover to one of them loses the newest commits",
          remedy:
            "alter system set synchronous_standby_names = '*'; select pg_reload_conf() (docs/operations/backups.md)",
        });
  if (synchronousCommit === "local")
    return replication.warning({
      found: `synchronous_standby_names is ${synchronousStandbys}, but synchronous_commit is local`,
      why: "commits do not wait for the standby, so a failover loses the newest ones",
      remedy: "alter system set synchronous_commit = on; select pg_reload_conf()",
    });
  return standbys === 0
    ? replication.problem({
        found: `synchronous_standby_names is ${synchronousStandbys}, and no standby is connected`,
        why: "every commit waits for a standby, so the service cannot write anything",
        remedy: "start the standby, or clear synchronous_standby_names until it is back",
      })
    : replication.ok(`${standbys} standbys, synchronous: ${synchronousStandbys}`);
}

function onOff(value: boolean): string {
  return value ? "on" : "off";
}
