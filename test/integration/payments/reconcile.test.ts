import { rawKeySigner } from "@causeway/attest";
import { RpcFault } from "@causeway/chains";
import { UNCONFIGURED_CHAIN_GRACE_MS } from "@causeway/domain";
import type { Address, RequestTerms } from "@causeway/domain";
import { localAccount } from "@causeway/localnet";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { chainProfiles } from "../../../apps/api/src/chains/directory.adapter.ts";
import { jobRuns } from "../../../apps/api/src/db/job-runs.postgres.ts";
import { balanceReads } from "../../../apps/api/src/balances/balance-reads.postgres.ts";
import { depositAddressReads } from "../../../apps/api/src/deposits/addresses/deposit-address-reads.postgres.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { groupedQuoteInserts } from "../../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import type { Reads } from "../../../apps/api/src/db/reads.port.ts";
import type { UnitOfWork } from "../../../apps/api/src/db/unit-of-work.port.ts";
import { pruneHistory } from "../../../apps/api/src/reconcile/prune-history.ts";
import { RETENTION_MS } from "../../../apps/api/src/reconcile/retention-times.ts";
import { reconcileRequests } from "../../../apps/api/src/reconcile/reconcile-requests.ts";
import { transition } from "../../../apps/api/src/requests/transition.ts";
import { noAppBalances } from "../../fakes/no-app-balances.ts";
import { noChains } from "../../fakes/no-chains.ts";
import { aChain } from "../../fakes/quote-world.ts";
import { aNonEvmChain } from "../../fakes/non-evm-chains.ts";
import { recordedEvents, type RecordedEvents } from "../../fakes/recorded-events.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { enginePolicy } from "../../support/engine-policy.ts";
import { someAddress, someHash, someTerms } from "../../support/terms.ts";

const NOW_MS = 1_700_000_100_000;
const LATE_MS = NOW_MS - enginePolicy.expiryGraceMs - 1;
const [EVM, OTHER_EVM, REMOVED] = [1, 2, 3];
const nonEvmChains = (["svm", "bvm", "hypevm"] as const).map((vmType) => aNonEvmChain(vmType));
const profiles = chainProfiles([aChain(EVM), aChain(OTHER_EVM), ...nonEvmChains]);

let database: TestDatabase;
let pool: pg.Pool;
let uow: UnitOfWork;
let reads: Reads;
let events: RecordedEvents;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 8, statementTimeoutMs: 10_000, applicationName: "test" });
  reads = postgresReads(sqlOn(pool));
});
beforeEach(async () => {
  events = recordedEvents();
  uow = postgresUnitOfWork(pool, events);
  await pool.query(
    "truncate requests, fast_fills, fill_burns, request_events, status_events, deposits, executions, api_keys, outbox, job_runs, idempotency_keys, deposit_addresses, chain_blocks, chain_cursors, rail_cursors cascade",
  );
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const servicesAt = (nowMs: number) => ({
  ...noAppBalances,
  enginePolicy,
  events,
  reads,
  balances: balanceReads(sqlOn(pool)),
  depositAddresses: depositAddressReads(sqlOn(pool)),
  uow,
  chains: { ...noChains, ...profiles },
  signer: rawKeySigner(localAccount("solver").privateKey),
  clock: { nowMs: () => nowMs },
});

/** Stores unpaid quotes from one chain. */
async function quotesFrom(
  chainId: number,
  fillDeadlineMs: number,
  count = 1,
  change: Partial<RequestTerms> = {},
): Promise<RequestTerms[]> {
  const origin = { chainId, currency: someAddress(), amount: 100n };
  const quotes = Array.from({ length: count }, () => someTerms({ origin, fillDeadlineMs, ...change }));
  const insert = groupedQuoteInserts(sqlOn(pool));
  await Promise.all(quotes.map(async (terms) => await insert(terms)));
  return quotes;
}

async function aQuoteFrom(chainId: number, fillDeadlineMs: number): Promise<RequestTerms> {
  const [terms] = await quotesFrom(chainId, fillDeadlineMs);
  if (terms === undefined) throw new Error("no terms were requested");
  return terms;
}

/** Records that a watcher read the chain up to a block with this time. */
async function readUpTo(chainId: number, timeMs: number): Promise<void> {
  const block = { number: 7n, hash: someHash(), timestamp: BigInt(Math.ceil(timeMs / 1000)) };
  await uow.run(async (tx) => {
    if (nonEvmChains.some(({ id }) => id === chainId))
      return await tx.nonEvm.setCursor(chainId, "cursor", block);
    const fullBlock = { ...block, parentHash: someHash(), baseFeePerGas: 1n };
    await tx.trail.replace(chainId, 0n, [fullBlock], 10);
    await tx.trail.setCursor(chainId, fullBlock);
  });
}

const NOTHING_PAID = { selected: true, totalUsd: 0n, sponsoredUsd: 0n };
const sponsoredBy = (wallet: Address): NonNullable<RequestTerms["sponsorship"]> => ({
  wallet,
  capHit: false,
  amount: 0n,
  usd: 0n,
  components: {
    execution: NOTHING_PAID,
    swap: NOTHING_PAID,
    relay: NOTHING_PAID,
    app: NOTHING_PAID,
    rent: NOTHING_PAID,
  },
});

const stateOf = async ({ requestId }: RequestTerms) => (await reads.request(requestId))?.state;

test.each(nonEvmChains.map(({ id, vmType }) => [vmType, id] as const))(
  "expires an unpaid quote from a %s chain once blocks beyond its deadline are read",
  async (_vmType, chainId) => {
    const terms = await aQuoteFrom(chainId, LATE_MS);
    await reconcileRequests(servicesAt(NOW_MS));
    expect((await stateOf(terms))?.name, "no block was read yet").toBe("quoted");
    await readUpTo(chainId, LATE_MS - 5_000);
    await reconcileRequests(servicesAt(NOW_MS));
    expect((await stateOf(terms))?.name, "blocks of its time are still unread").toBe("quoted");
    await readUpTo(chainId, NOW_MS);
    await reconcileRequests(servicesAt(NOW_MS));
    expect(await stateOf(terms)).toMatchObject({ name: "expired", failReason: "TTL_EXPIRED" });
  },
);

test("expires quotes of other chains although one chain makes no progress and has more quotes than a round takes", async () => {
  const stalled = await quotesFrom(EVM, LATE_MS, 700);
  await readUpTo(EVM, LATE_MS - 5_000);
  const terms = await aQuoteFrom(OTHER_EVM, LATE_MS + 1);
  await readUpTo(OTHER_EVM, NOW_MS);
  await reconcileRequests(servicesAt(NOW_MS + 10));
  expect((await stateOf(terms))?.name).toBe("expired");
  for (const request of stalled.slice(0, 3)) expect((await stateOf(request))?.name).toBe("quoted");
});

test("expires a quote from an unconfigured chain a day later, regardless of what was read of that chain", async () => {
  const terms = await aQuoteFrom(REMOVED, LATE_MS);
  await readUpTo(REMOVED, NOW_MS);
  await reconcileRequests(servicesAt(NOW_MS));
  expect((await stateOf(terms))?.name).toBe("quoted");
  await reconcileRequests(servicesAt(NOW_MS + UNCONFIGURED_CHAIN_GRACE_MS));
  expect((await stateOf(terms))?.name, "no chain confirms the clock").toBe("quoted");
  await readUpTo(EVM, NOW_MS + UNCONFIGURED_CHAIN_GRACE_MS);
  await reconcileRequests(servicesAt(NOW_MS + UNCONFIGURED_CHAIN_GRACE_MS));
  expect(await stateOf(terms)).toMatchObject({ name: "expired", failReason: "TTL_EXPIRED" });
});

test("checks reported transactions before it expires a quote, except for quotes from a removed chain", async () => {
  const [reported, removed] = [await aQuoteFrom(EVM, LATE_MS), await aQuoteFrom(REMOVED, LATE_MS)];
  for (const { requestId } of [reported, removed])
    await uow.run((tx) => tx.fastFills.rememberOrigin(requestId, someHash(), NOW_MS));
  await readUpTo(EVM, NOW_MS + UNCONFIGURED_CHAIN_GRACE_MS);
  const services = servicesAt(NOW_MS + UNCONFIGURED_CHAIN_GRACE_MS);
  const networkFault = new RpcFault({
    kind: "network",
    method: "eth_getTransactionByHash",
    reason: "refused",
  });
  const get = (chainId: number) => {
    if (chainId === EVM) throw networkFault;
    return undefined;
  };
  await reconcileRequests({ ...services, chains: { ...services.chains, get } });
  expect((await stateOf(reported))?.name, "its node could not look up the transaction").toBe("quoted");
  expect((await stateOf(removed))?.name).toBe("expired");
  // The transaction is not on the chain, so nothing is recorded.
  await reconcileRequests(services);
  expect((await stateOf(reported))?.name).toBe("expired");
});

test("expiring many quotes without history in one statement leaves the same rows as expiring each one separately", async () => {
  await pool.query(
    `insert into api_keys (id, label, secret_hash, scopes, referrers, origins, rules, created_at_ms, updated_at_ms)
     values ('00000000000000aa', 'app', '\\xaa', '{read}', '{}', '{}', '{}', 1, 1)`,
  );
  await pool.query(
    `insert into webhook_endpoints (id, key_id, url, label, headers, secret, created_at_ms, updated_at_ms)
     values ('one', '00000000000000aa', 'https://a', '', '{}', 's', 1, 1), ('two', '00000000000000aa', 'https://b', '', '{}', 's', 1, 1)`,
  );
  const change = (index: number): Partial<RequestTerms> => ({
    kind: (["bridge", "call", "send", "swap"] as const)[index % 4] ?? "bridge",
    fillDeadlineMs: LATE_MS,
    ...(index % 3 === 0 && { keyId: "00000000000000aa" }),
    ...(index % 5 === 0 && { sponsorship: sponsoredBy(someAddress()) }),
  });
  const insert = groupedQuoteInserts(sqlOn(pool));
  const pairs: RequestTerms[][] = [];
  for (let index = 0; index < 60; index++) {
    const pair = [someTerms(change(index)), someTerms(change(index))];
    for (const terms of pair) await insert(terms);
    pairs.push(pair);
  }
  const services = servicesAt(NOW_MS);
  const expiredSeparately = pairs.map(([first]) => first?.requestId ?? "0x");
  for (const requestId of expiredSeparately)
    await uow.run(async (tx) => {
      const record = await tx.requests.lock(requestId);
      if (record) await transition(services, tx, record, { kind: "deadlinePassed" });
    });
  await readUpTo(EVM, NOW_MS);
  await reconcileRequests(services);
  expect(events.of("reconciled").at(-1)?.facts, "the round expired the other half").toMatchObject({
    expired: 60,
  });
  const tables = [
    "select request_id, to_jsonb(r) - '{request_id,order_id,terms}'::text[] as row from requests r",
    "select request_id, to_jsonb(e) - 'request_id' as row from status_events e",
    "select request_id, to_jsonb(e) - '{id,request_id}'::text[] as row from request_events e order by id",
    "select request_id, to_jsonb(d) - '{id,request_id}'::text[] as row from webhook_deliveries d order by endpoint_id",
    "select request_id, to_jsonb(h) - '{n,request_id}'::text[] as row from request_history h",
  ];
  for (const table of tables) {
    const { rows } = await pool.query<{ request_id: string; row: unknown }>(table);
    const rowsById = Map.groupBy(rows, (row) => row.request_id);
    const rowsOf = (id = "") => (rowsById.get(id) ?? []).map(({ row }) => row);
    for (const [first, second] of pairs)
      expect(rowsOf(second?.requestId), table).toEqual(rowsOf(first?.requestId));
  }
  const { rows } = await pool.query("select 1 from webhook_deliveries");
  expect(rows, "two endpoints of the key of every third quote").toHaveLength(2 * 40);
});

test("expires requests with history one by one: an execution that failed to deposit, and reserved fees", async () => {
  const [depositing, reserved, superseded] = await quotesFrom(EVM, LATE_MS, 3);
  await pool.query("update requests set state = 'depositing' where request_id = $1", [depositing?.requestId]);
  await pool.query("update requests set superseded_by = 'x' where request_id = $1", [superseded?.requestId]);
  await pool.query("insert into app_wallets (wallet, created_at_ms) values ('w', 1)");
  await pool.query(
    `insert into fee_reservations (request_id, wallet, purpose, usd, created_at_ms) values ($1, 'w', 'fees', 1, 1)`,
    [reserved?.requestId],
  );
  await readUpTo(EVM, NOW_MS);
  await reconcileRequests(servicesAt(NOW_MS));
  const states = await Promise.all(
    [depositing, reserved, superseded].map(async (request) => request && (await stateOf(request))?.name),
  );
  expect(states).toEqual(["expired", "expired", "quoted"]);
});

test("reconciling reports which part failed, and runs all other parts", async () => {
  const terms = await aQuoteFrom(EVM, LATE_MS);
  await readUpTo(EVM, NOW_MS);
  const services = servicesAt(NOW_MS);
  const broken = async () => await Promise.reject(new Error("canceling statement due to statement timeout"));
  await reconcileRequests({
    ...services,
    reads: { ...reads, overdueFills: broken, endedExecutions: broken },
  });
  expect((await stateOf(terms))?.name).toBe("expired");
  expect(events.of("reconcile_fault").map(({ facts }) => facts)).toEqual([
    { part: "fills" },
    { part: "ended executions" },
  ]);
  await aQuoteFrom(EVM, LATE_MS);
  const [deposit] = (
    await pool.query<{ id: number }>(
      `insert into deposits (chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block, depositor, sender, currency,
         amount, value_usd, disposition, refund_state, seen_at_ms)
       values (1, 'a', 0, 1, 'b', true, 1, 'c', 'd', 'e', 1, 0, 'refund', 'none', 0) returning id`,
    )
  ).rows;
  await reconcileRequests({ ...services, reads: { ...reads, waitingOrigins: broken } });
  expect(events.of("reconcile_fault").at(-1)?.facts).toEqual({ part: "expiry" });
  const { rows } = await pool.query<{ payload: string }>("select payload from outbox");
  expect(rows.map(({ payload }) => JSON.parse(payload) as unknown)).toEqual([
    { depositId: String(deposit?.id), rescue: 1 },
  ]);
});

const DAY_MS = 24 * 3_600 * 1000;

/** A call with an idempotency key that began at this time. */
async function aCallAt(atMs: number): Promise<string> {
  const key = someHash();
  await pool.query(
    `insert into idempotency_keys (scope, endpoint, key, body_hash, lease_token, lease_until_ms, created_at_ms)
     values ('s', 'POST /quote', $1, 'h', 't', 0, $2)`,
    [key, atMs],
  );
  return key;
}

const remainingKeys = async () =>
  (await pool.query<{ key: string }>("select key from idempotency_keys")).rows.map(({ key }) => key);
const remainingRequests = async () =>
  (
    await pool.query<{ id: string }>("select request_id as id from requests order by fill_deadline_ms")
  ).rows.map(({ id }) => id);

test("prunes unpaid quotes a month after their deadline, and checks the quotes that it keeps only once", async () => {
  const endedMs = NOW_MS - RETENTION_MS.requests - 1;
  const kept = await quotesFrom(EVM, endedMs - 5, 3);
  const [unpaid] = await quotesFrom(EVM, endedMs, 1);
  const [young] = await quotesFrom(EVM, NOW_MS - DAY_MS, 1);
  await pool.query("update requests set state = 'expired'");
  for (const { requestId } of kept)
    await pool.query(
      `insert into deposits (chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block, depositor, sender, currency,
         amount, value_usd, disposition, seen_at_ms, request_id)
       values (1, $1, 0, 1, 'b', true, 1, 'c', 'd', 'e', 1, 0, 'refund', 0, $1)`,
      [requestId],
    );
  await readUpTo(EVM, NOW_MS);
  const services = servicesAt(NOW_MS);
  await pruneHistory(services);
  expect(events.of("pruned").at(-1)?.facts).toMatchObject({ quotes: 1 });
  const remaining = await remainingRequests();
  expect(remaining).toHaveLength(4);
  expect(remaining).not.toContain(unpaid?.requestId);
  expect(remaining).toContain(young?.requestId);
  const pruned = await uow.run((tx) => tx.requests.prune("requests", endedMs + 1, 100));
  expect(pruned, "quotes that are kept are not checked again").toEqual({ deleted: 0, seen: 0 });
  const oldest = await reads.oldestPrunable();
  expect(oldest.find(({ table }) => table === "requests")?.sinceMs).toBe(young?.fillDeadlineMs);
});

/** Terms with calls of several kilobytes. */
function withCalls(): Partial<RequestTerms> {
  const { order } = someTerms();
  const call = `0x${"ab".repeat(3_000)}` as const;
  return { order: { ...order, output: { ...order.output, calls: [call] } } };
}

test("prunes unpaid quotes with calls a day after they ended, and keeps what is still referenced", async () => {
  const dayOldMs = NOW_MS - RETENTION_MS.large_requests - 1;
  const [unpaid, deposited, executed, reverted, fronted, addressed, notified, ended] = await quotesFrom(
    EVM,
    dayOldMs,
    8,
    withCalls(),
  );
  const [small] = await quotesFrom(EVM, dayOldMs);
  const [inTime] = await quotesFrom(EVM, NOW_MS + DAY_MS, 1, withCalls());
  await pool.query("update requests set state = 'expired', updated_at_ms = $1", [dayOldMs]);
  await pool.query("update requests set state_since_ms = $2 where request_id = $1", [
    ended?.requestId,
    NOW_MS - 1,
  ]);
  await pool.query(
    `insert into deposits (chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block, depositor, sender, currency,
       amount, value_usd, disposition, seen_at_ms, request_id)
     values (1, $1, 0, 1, 'b', true, 1, 'c', 'd', 'e', 1, 0, 'refund', 0, $1)`,
    [deposited?.requestId],
  );
  await pool.query(
    `insert into executions (request_id, key_id, question_hash, chain_id, call_to, call_data, call_value, gas_limit, max_fee_per_gas,
       coin_usd, flat_usd, target, day, cost_usd, created_at_ms)
     values ($1, 'key', 'q', 1, '0x', '0x', 0, 1, 0, 0, 0, '0x', 0, 0, 0)`,
    [executed?.requestId],
  );
  await pool.query(
    "insert into fill_burns (slot_id, request_id, chain_id, wei, unpaid_wei, at_ms) values (1, $1, 1, 1, 1, 0)",
    [reverted?.requestId],
  );
  await pool.query(
    `insert into fast_fills (request_id, key_id, wallet, amount, input_amount, surplus_chain_id, surplus_currency, surplus_amount, accepted_at_ms)
     values ($1, 'key', 'w', 1, 1, 1, 'c', 0, 0)`,
    [fronted?.requestId],
  );
  await pool.query("update requests set deposit_address = 'a' where request_id = $1", [addressed?.requestId]);
  await pool.query(
    `insert into deposit_addresses (address, request_id, order_id, depositor, recovery, strict, question, created_at_ms, active_at_ms, bound_to_order, quoted_chain_id, quoted_currency)
     values ('a', $1, 'o', 'd', 'r', false, '{}', 0, 0, false, 1, 'c')`,
    [addressed?.requestId],
  );
  await aWebhookWaitingFor(notified);
  await readUpTo(EVM, NOW_MS);

  await pruneHistory(servicesAt(NOW_MS));
  expect(events.of("pruned").at(-1)?.facts).toMatchObject({ quotesWithCalls: 1, quotes: 0 });
  const remaining = await remainingRequests();
  expect(remaining).not.toContain(unpaid?.requestId);
  expect(new Set(remaining)).toEqual(
    new Set(
      [deposited, executed, reverted, fronted, addressed, notified, ended, small, inTime].map(
        (request) => request?.requestId,
      ),
    ),
  );

  await pool.query("update webhook_deliveries set state = 'delivered', ended_at_ms = 1");
  await pruneHistory(servicesAt(NOW_MS));
  expect(await remainingRequests(), "its webhook was delivered").not.toContain(notified?.requestId);
  const monthLaterMs = NOW_MS + RETENTION_MS.requests;
  await readUpTo(EVM, monthLaterMs);
  await pruneHistory(servicesAt(monthLaterMs));
  expect(new Set(await remainingRequests())).toEqual(
    new Set([deposited, executed, reverted, fronted].map((request) => request?.requestId)),
  );
});

test("keeps quotes with calls for a month if their origin returns no deposit without its request", async () => {
  const dayOldMs = NOW_MS - RETENTION_MS.large_requests - 1;
  const [evmQuote, bitcoinQuote] = await quotesFrom(EVM, dayOldMs, 2, withCalls());
  await pool.query("update requests set state = 'expired', updated_at_ms = $1", [dayOldMs]);
  await pool.query("update requests set origin_chain_id = 8253038 where request_id = $1", [
    bitcoinQuote?.requestId,
  ]);
  await pool.query(
    "insert into rail_cursors (chain_id, cursor, block_number, block_hash, block_seconds) values (8253038, '', 1, '0x', 1)",
  );
  await readUpTo(EVM, NOW_MS);
  await pruneHistory(servicesAt(NOW_MS));
  const remaining = await remainingRequests();
  expect(remaining).not.toContain(evmQuote?.requestId);
  expect(remaining).toContain(bitcoinQuote?.requestId);
  const oldest = await reads.oldestPrunable();
  expect(oldest.find(({ table }) => table === "large_requests")?.sinceMs).toBeUndefined();
});

/** A pending delivery of the last change of a request. */
async function aWebhookWaitingFor(terms: RequestTerms | undefined): Promise<void> {
  await pool.query(
    `insert into api_keys (id, label, secret_hash, scopes, referrers, origins, rules, created_at_ms, updated_at_ms)
     values ('key', '', 'secret', '{read}', '{}', '{}', '{}', 0, 0)`,
  );
  await pool.query(
    `insert into webhook_endpoints (id, key_id, url, label, headers, secret, created_at_ms, updated_at_ms)
     values ('wh', 'key', 'https://a.example', '', '{}', 's', 0, 0)`,
  );
  await pool.query(
    `insert into status_events (request_id, seq, key_id, state, final, only_final, front, in_tx_hashes, tx_hashes, refund_tx_hashes, at_ms)
     values ($1, 1, 'key', 'expired', true, false, 'none', '{}', '{}', '{}', 0)`,
    [terms?.requestId],
  );
  await pool.query(
    `insert into webhook_deliveries (endpoint_id, request_id, seq, next_at_ms, created_at_ms) values ('wh', $1, 1, 0, 0)`,
    [terms?.requestId],
  );
}

test("pruning continues with the other tables if one table fails, and reports the failed one", async () => {
  await aCallAt(NOW_MS - RETENTION_MS.idempotency_keys - 1);
  const young = await aCallAt(NOW_MS - 1);
  await readUpTo(EVM, NOW_MS);
  const breaking: UnitOfWork = {
    run: async (work) =>
      await uow.run(
        async (tx) =>
          await work({
            ...tx,
            requests: {
              ...tx.requests,
              prune: async () => await Promise.reject(new Error("statement timeout")),
            },
          }),
      ),
  };
  await pruneHistory({ ...servicesAt(NOW_MS), uow: breaking });
  expect(await remainingKeys()).toEqual([young]);
  expect(events.of("prune_fault").map(({ facts }) => facts)).toEqual([
    { table: "large_requests" },
    { table: "requests" },
  ]);
});

test("deletes nothing by age while no chain's newest block is within an hour of the clock", async () => {
  const key = await aCallAt(NOW_MS);
  const aheadMs = NOW_MS + RETENTION_MS.idempotency_keys + 1;
  await pruneHistory(servicesAt(aheadMs));
  await readUpTo(EVM, NOW_MS);
  await readUpTo(nonEvmChains[0]?.id ?? 0, NOW_MS);
  await pruneHistory(servicesAt(aheadMs));
  expect(await remainingKeys()).toEqual([key]);
  expect(events.of("clock_implausible").map(({ level, facts }) => ({ level, ...facts }))).toEqual([
    { level: "alarm", nowMs: aheadMs, newestBlockMs: undefined },
    { level: "alarm", nowMs: aheadMs, newestBlockMs: NOW_MS },
  ]);
  await readUpTo(nonEvmChains[0]?.id ?? 0, aheadMs);
  await pruneHistory(servicesAt(aheadMs));
  expect(await remainingKeys()).toEqual([]);
});

/** A deposit whose refund is due. Its job was queued once and is lost, unless the test puts it back. */
async function aRefundDue(seenAtMs: number): Promise<string> {
  const { rows } = await pool.query<{ id: number }>(
    `insert into deposits (chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block, depositor, sender, currency,
       amount, value_usd, disposition, refund_state, seen_at_ms)
     values (1, $1, 0, 1, 'b', true, 1, 'c', 'd', 'e', 1, 0, 'refund', 'none', $2) returning id`,
    [someHash(), seenAtMs],
  );
  return String(rows[0]?.id);
}

/** Takes the queued jobs, as the relay does. */
async function takeJobs(): Promise<string[]> {
  const { rows } = await pool.query<{ payload: string }>(
    `with taken as (update outbox set published_at_ms = 1 where published_at_ms is null returning *)
     select payload from taken order by id`,
  );
  return rows.map(({ payload }) => (JSON.parse(payload) as { depositId: string }).depositId);
}

const { overdueAfterMs } = enginePolicy;

test("does not queue a leg again while its job waits, and queues it if the job does not run again", async () => {
  const depositId = await aRefundDue(NOW_MS);
  const leg = { job: "refund", legId: depositId, jobId: `refund-${depositId}-1` } as const;
  await jobRuns(sqlOn(pool)).noteWaiting(leg, NOW_MS + 1_000, NOW_MS + 61_000);
  await reconcileRequests(servicesAt(NOW_MS + 60_999));
  expect(await takeJobs()).toEqual([]);
  await reconcileRequests(servicesAt(NOW_MS + 61_000));
  expect(await takeJobs()).toEqual([depositId]);
});

test("does not queue a leg again while its job is queued, or while the queue cannot be read", async () => {
  const [queued, lost] = [await aRefundDue(NOW_MS), await aRefundDue(NOW_MS)];
  const servicesWithQueued = (legs: ReadonlySet<string> | undefined) => ({
    ...servicesAt(NOW_MS + 60_000),
    queuedLegs: { legIdsOf: async () => legs },
  });
  await reconcileRequests(servicesWithQueued(undefined));
  expect(await takeJobs()).toEqual([]);
  await reconcileRequests(servicesWithQueued(new Set([queued])));
  expect(await takeJobs()).toEqual([lost]);
  await reconcileRequests(servicesWithQueued(new Set()));
  expect(await takeJobs()).toEqual([queued]);
});

test("queues a lost job after 5 seconds, and a job without progress again after pauses that grow to 30 seconds", async () => {
  await aRefundDue(NOW_MS);
  const queuedAtMs: number[] = [];
  for (let atMs = 0; atMs <= 150_000; atMs += 1_000) {
    await reconcileRequests(servicesAt(NOW_MS + atMs));
    if ((await takeJobs()).length > 0) queuedAtMs.push(atMs);
  }
  const firstMs = overdueAfterMs + 1_000;
  expect(queuedAtMs).toEqual([firstMs, 11_000, 21_000, 41_000, 71_000, 101_000, 131_000]);
});

test("each leg has one open job while nothing is published, however many processes reconcile", async () => {
  await aRefundDue(NOW_MS);
  for (let round = 1; round <= 20; round++)
    await Promise.all(
      [1, 2, 3].map(async () => await reconcileRequests(servicesAt(NOW_MS + round * 60_000))),
    );
  expect((await pool.query("select 1 from outbox")).rows).toHaveLength(1);
});

test("queues every lost job in turn, even if more legs than fit into a round cannot proceed", async () => {
  const stuck = await Promise.all(Array.from({ length: 510 }, async () => await aRefundDue(NOW_MS)));
  const lost = await aRefundDue(NOW_MS + 1);
  const queued = new Set<string>();
  for (let round = 1; round <= 2; round++) {
    await reconcileRequests(servicesAt(NOW_MS + 10_000 + round * overdueAfterMs));
    for (const depositId of await takeJobs()) queued.add(depositId);
  }
  expect(queued.size).toBe(stuck.length + 1);
  expect(queued).toContain(lost);
});

test("a lost job is queued again even if another job ran before the request entered its state", async () => {
  const terms = await aQuoteFrom(EVM, NOW_MS + DAY_MS);
  await pool.query("update requests set state = 'fillable', updated_at_ms = $2 where request_id = $1", [
    terms.requestId,
    NOW_MS,
  ]);
  const leg = { job: "fill", legId: terms.requestId, jobId: "fill-before" } as const;
  await jobRuns(sqlOn(pool)).noteWaiting(leg, NOW_MS - 1, NOW_MS + 60_000);
  await reconcileRequests(servicesAt(NOW_MS + overdueAfterMs + 1));
  const { rows } = await pool.query("select job_name, job_id, payload from outbox");
  expect(rows).toEqual([
    {
      job_name: "fill",
      job_id: `rescue-fill-${terms.requestId}`,
      payload: JSON.stringify({ requestId: terms.requestId, rescue: 1 }),
    },
  ]);
});

test("a requeued job ends while another job of its leg waits, and takes over from a lost job", async () => {
  const runs = jobRuns(sqlOn(pool));
  const leg = { job: "refund", legId: "7" } as const;
  await runs.noteWaiting({ ...leg, jobId: "first" }, 0, 60_000);
  expect(await runs.takeOver({ ...leg, jobId: "again" }, 59_999, 119_999)).toBe(false);
  expect(await runs.takeOver({ ...leg, jobId: "again" }, 60_000, 120_000)).toBe(true);
  expect(await runs.takeOver({ ...leg, jobId: "again" }, 61_000, 121_000), "its own entry").toBe(true);
});
