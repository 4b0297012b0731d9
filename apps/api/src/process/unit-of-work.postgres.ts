import { sql as text } from "drizzle-orm";
import type pg from "pg";
import { LockTimeout } from "../db/lock-timeout.port.ts";
import type { CommittedEvents } from "../db/events.port.ts";
import type { Tx, UnitOfWork } from "../db/unit-of-work.port.ts";
import { announcer } from "../db/announcements.postgres.ts";
import { defineSql, type Params } from "../db/define-query.postgres.ts";
import { claimWrites } from "../balances/claim-writes.postgres.ts";
import { depositAddressWrites } from "../deposits/addresses/deposit-address-writes.postgres.ts";
import { depositWrites } from "../deposits/deposit-writes.postgres.ts";
import { fastFillWrites } from "../executions/fast-fills.postgres.ts";
import { executionWrites } from "../payments/execution-writes.postgres.ts";
import { idempotencyWrites } from "../http/idempotency-store.postgres.ts";
import { codeOf, inTransaction } from "../db/in-transaction.postgres.ts";
import type { AlarmInbox } from "../notices/stored-alarms.postgres.ts";
import { laneWrites } from "../payments/lane-writes.postgres.ts";
import { ledgerWrites } from "../balances/ledger-writes.postgres.ts";
import { nonceMappingWrites } from "../settlement/nonce-mappings/nonce-mapping-rows.postgres.ts";
import { newJobs, type NewJobs, type StoredJob } from "../db/new-jobs.ts";
import { outbox } from "../db/outbox.postgres.ts";
import { sqlOn, type Sql } from "../db/pool.postgres.ts";
import { priceExposureWrites } from "../markets/prices/price-exposure.postgres.ts";
import { policyWrites } from "../payments/policy/policy.postgres.ts";
import { nonEvmWrites } from "../payments/non-evm-rows.postgres.ts";
import { nameMemory, type NameMemory } from "../requests/history/name-memory.ts";
import { requestWrites } from "../requests/request-writes.postgres.ts";
import { fillBurnWrites } from "../payments/fill-burns.postgres.ts";
import { sendWrites } from "../payments/send-writes.postgres.ts";
import { watchServer, type ServerWatch } from "../db/server-watch.postgres.ts";
import { settlementWrites } from "../settlement/settlement-writes.postgres.ts";
import { sponsorKeys } from "../payments/sponsors.postgres.ts";
import { topUpWrites } from "../balances/top-up-writes.postgres.ts";
import { trailWrites } from "../deposits/trail-writes.postgres.ts";

const DEADLOCK = "40P01";
const SERIALIZATION = "40001";
const LOCK_NOT_AVAILABLE = "55P03";

// Applies until the end of the transaction.
const limitLockWaits = defineSql(
  "limit_lock_waits",
  {},
  (p: Params<{ timeout: string }>) => text`select set_config('lock_timeout', ${p.timeout}, true)`,
);

/**
 * Transactions on a Postgres pool. Their events are raised, and their announcements sent, after the commit. A
 * transaction that fails by a deadlock or a serialization conflict is rolled back and runs again, at most
 * three times in total.
 * @param events receives the events of a transaction after its commit
 * @param servers shared with the reads that payments are planned from
 * @param relay passes jobs to the relay of this process, which needs no announcement
 * @param inbox stores the alarms of a transaction in the same transaction, for notices; undefined: no notices
 * are sent
 */
export function postgresUnitOfWork(
  pool: pg.Pool,
  events: CommittedEvents,
  servers: ServerWatch = watchServer(),
  relay: NewJobs = newJobs(),
  inbox?: AlarmInbox,
): UnitOfWork {
  const announcements = announcer(sqlOn(pool));
  const names = nameMemory();
  const runWithRetries = async <T>(
    work: (tx: Tx) => Promise<T>,
    lockTimeoutMs: number | undefined,
  ): Promise<Committed<T>> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await runOnce(pool, { servers, relay, inbox, names }, work, lockTimeoutMs);
      } catch (error) {
        if (codeOf(error) === LOCK_NOT_AVAILABLE) throw new LockTimeout({ cause: error });
        if (attempt >= 3 || !isTransient(error)) throw error;
      }
    }
  };
  return {
    async run<T>(
      work: (tx: Tx) => Promise<T>,
      options: { readonly lockTimeoutMs?: number } = {},
    ): Promise<T> {
      const { result, announces, jobs, raised } = await runWithRetries(work, options.lockTimeoutMs);
      if (jobs.length > 0) relay.passToRelay(jobs);
      if (announces) announcements.send();
      for (const raise of raised) raise(events);
      return result;
    },
  };
}

async function runOnce<T>(
  pool: pg.Pool,
  { servers, relay, inbox, names }: UnitParts,
  work: (tx: Tx) => Promise<T>,
  lockTimeoutMs: number | undefined,
): Promise<Committed<T>> {
  let announces = false;
  let storedJobs: readonly StoredJob[] = [];
  const raised: Raise[] = [];
  const result = await inTransaction(pool, async (client, atEnd) => {
    const statements = sqlOn(client);
    const sql: Sql = {
      db: statements.db,
      atEnd,
      async query(statement, values) {
        announces ||= statement.announces === true;
        return await statements.query(statement, values);
      },
    };
    if (lockTimeoutMs !== undefined) await limitLockWaits(sql, { timeout: `${lockTimeoutMs}ms` });
    const jobs = outbox(sql);
    const value = await work({
      events: {
        happened: (event, facts) => void raised.push((receiver) => receiver.happened(event, facts)),
        alarm(event, facts) {
          if (inbox !== undefined) atEnd(inbox.store(sql, event, facts));
          raised.push((receiver) => {
            inbox?.markStored(event, facts);
            receiver.alarm(event, facts);
          });
        },
      },
      requests: requestWrites(sql, names),
      deposits: depositWrites(sql),
      depositAddresses: depositAddressWrites(sql),
      sends: sendWrites(sql),
      fillBurns: fillBurnWrites(sql),
      lanes: laneWrites(sql, servers),
      ledger: ledgerWrites(sql),
      executions: executionWrites(sql),
      sponsors: sponsorKeys(sql),
      topUps: topUpWrites(sql),
      claims: claimWrites(sql),
      fastFills: fastFillWrites(sql),
      trail: trailWrites(sql),
      nonEvm: nonEvmWrites(sql),
      nonceMappings: nonceMappingWrites(sql),
      outbox: jobs,
      settlement: settlementWrites(sql),
      idempotency: idempotencyWrites(sql),
      priceExposure: priceExposureWrites(sql),
      policy: policyWrites(sql),
    });
    storedJobs = await jobs.flush(!relay.hasRelay(), relay.runsAtCommit);
    return value;
  });
  return { result, announces, jobs: storedJobs, raised };
}

interface UnitParts {
  readonly servers: ServerWatch;
  readonly relay: NewJobs;
  readonly inbox: AlarmInbox | undefined;
  readonly names: NameMemory;
}

interface Committed<T> {
  readonly result: T;
  readonly announces: boolean;
  readonly jobs: readonly StoredJob[];
  readonly raised: readonly Raise[];
}

type Raise = (events: CommittedEvents) => void;

function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return code === DEADLOCK || code === SERIALIZATION;
}
