import { createTokenPermits } from "../../apps/api/src/chains/token-permits.adapter.ts";
import { createCodeCache } from "../../apps/api/src/chains/code-cache.adapter.ts";
import { rawKeySigner } from "@causeway/attest";
import type { BlockRef } from "@causeway/chains";
import type { Address, Chain, Order, RequestId, RequestTerms, StateName, TxHash } from "@causeway/domain";
import { defaultFeePolicy, inChargeOrder, orderIdOf, publicStatus } from "@causeway/domain";
import { freePort } from "@causeway/testkit";
import { localAccount, nodeEnvironment, readLocalChains, type LocalAccount } from "@causeway/localnet";
import { transactionsOf } from "@causeway/wire";
import type { QuoteAnswer, QuoteInput } from "@causeway/wire";
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { inject } from "vitest";
import { createChainDirectory } from "../../apps/api/src/chains/directory.adapter.ts";
import { balanceReads } from "../../apps/api/src/balances/balance-reads.postgres.ts";
import { createPool, sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { depositAddressReads } from "../../apps/api/src/deposits/addresses/deposit-address-reads.postgres.ts";
import { groupedQuoteInserts } from "../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { postgresReads } from "../../apps/api/src/process/reads.postgres.ts";
import { sponsorReads } from "../../apps/api/src/payments/sponsors.postgres.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import type { EnginePolicy } from "../../apps/api/src/db/engine-policy.port.ts";
import type { DepositRecord, RequestRecord } from "../../apps/api/src/db/records.port.ts";
import type { StatusView } from "../../apps/api/src/requests/status-view.port.ts";
import type { QuoteKey } from "../../apps/api/src/balances/sponsors.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import type { JobName } from "../../apps/api/src/db/job-name.port.ts";
import { createQuote } from "../../apps/api/src/quotes/create-quote.ts";
import type { QuoteServices } from "../../apps/api/src/quotes/create-quote.ts";
import { storeQuotes } from "../../apps/api/src/deposits/addresses/store-quotes.ts";
import { maintainLane } from "../../apps/api/src/payments/maintain-lane.ts";
import { openLane } from "../../apps/api/src/payments/open-lane.ts";
import { measuredQuoteGas } from "../../apps/api/src/quotes/quote-gas.ts";
import { reconcileRequests } from "../../apps/api/src/reconcile/reconcile-requests.ts";
import { recheckFinalBlocks } from "../../apps/api/src/deposits/recheck-final-blocks.ts";
import { requestStatus } from "../../apps/api/src/requests/request-status.ts";
import { loadTrail, scanChain } from "../../apps/api/src/deposits/scan-chain.ts";
import { followReports } from "../../apps/api/src/deposits/follow-reports.ts";
import { trackLane } from "../../apps/api/src/payments/track-lane.ts";
import { trackSends } from "../../apps/api/src/payments/track-sends.ts";
import { adjustableClock, type AdjustableClock } from "../fakes/adjustable-clock.ts";
import { adjustablePrices, type AdjustablePrices } from "../fakes/adjustable-prices.ts";
import { noPools } from "../fakes/pair-liquidity.ts";
import { recordedEvents, type RecordedEvents } from "../fakes/recorded-events.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import type { PaymentJournal } from "../../apps/api/src/payments/payment-journal.port.ts";
import { watchServer, type ServerWatch } from "../../apps/api/src/db/server-watch.postgres.ts";
import { createPlanFaults } from "../../apps/api/src/payments/plan-faults.ts";
import { enginePolicy } from "./engine-policy.ts";
import { runJob } from "./run-job.ts";
import { startTestChain, type TestChain } from "./test-chain.ts";

/**
 * The fields of a quote request that a test overrides. By default 100 USDC go from the first chain to the
 * second.
 */
export type QuoteOverrides = Partial<QuoteInput>;

/** A quote, and the terms that were stored for it. */
export interface QuotedRequest {
  readonly answer: QuoteAnswer;
  readonly terms: RequestTerms;
  readonly requestId: RequestId;
  /** The newest block number at the time of the quote, by chain id. */
  readonly since: ReadonlyMap<number, bigint>;
}

/**
 * The whole engine of deposits, fills and refunds on a real database and two real chains. The test advances
 * it step by step, instead of watchers, queues and timers. A method's `processServices` are those of the
 * process that acts; default: the world's own services.
 */
export interface EngineWorld {
  readonly services: WorkerServices;
  readonly clock: AdjustableClock;
  readonly prices: AdjustablePrices;
  readonly events: RecordedEvents;
  readonly pool: pg.Pool;
  readonly databaseUrl: string;
  /** The chain from which quotes go by default. */
  readonly origin: TestChain;
  /** The chain to which quotes go by default. */
  readonly destination: TestChain;
  readonly solver: LocalAccount;
  readonly user: LocalAccount;
  readonly stranger: LocalAccount;
  readonly usdc: Address;
  /** A new address without funds. */
  anAddress(): Address;
  /**
   * Requests a quote.
   * @param apiKey id of the requesting API key, or the key itself, which can then pay
   * @param replacements services that replace the usual ones
   */
  quote(
    overrides?: QuoteOverrides,
    apiKey?: string | QuoteKey,
    replacements?: Partial<QuoteServices>,
  ): Promise<QuotedRequest>;
  /** Sends the steps of a quote to its chain's mempool. Returns the hash of the last step. */
  pay(quoted: QuotedRequest, from?: LocalAccount): Promise<TxHash>;
  /** Does what a watcher of the process does at a new head. */
  watch(chain: TestChain, processServices?: WorkerServices): Promise<readonly BlockRef[]>;
  /**
   * Runs every job that was queued since the last call, once. If the process crashes during a job, the
   * remaining jobs are lost.
   */
  work(processServices?: WorkerServices): Promise<void>;
  /** Does what a watcher does for its lane on a timer. */
  maintainLaneOf(chain: TestChain, processServices?: WorkerServices): Promise<void>;
  /**
   * Runs one round: new blocks on both chains, watchers, reconciling, jobs and lanes.
   * @param blocks mined per chain, default 1
   */
  round(processServices?: WorkerServices, blocks?: number): Promise<void>;
  /**
   * Runs rounds until the request is final, and moves the clock forward by `stepMs` before each.
   * @throws after 30 rounds
   */
  untilFinal(requestId: RequestId, stepMs?: number): Promise<StatusView>;
  status(requestId: RequestId): Promise<StatusView>;
  /** The distinct public statuses of a request so far, in order, according to its trace. */
  statusesOf(requestId: RequestId): Promise<string[]>;
  request(requestId: RequestId): Promise<RequestRecord>;
  depositsOf(requestId: RequestId): Promise<readonly DepositRecord[]>;
  /**
   * The solver's payments for an order on a chain: successful transactions whose input ends with the order
   * id.
   */
  paymentsOf(quoted: QuotedRequest, chain: TestChain): ReturnType<TestChain["sentBy"]>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly policy?: Partial<EnginePolicy>;
  /** Fields that replace those in the configuration of both chains. */
  readonly chain?: Partial<Chain>;
  /** Used instead of a new database on the common server. */
  readonly database?: TestDatabase;
  /**
   * Creates the store that keeps payments outside of the database.
   * @param servers records which server answers
   */
  readonly journal?: (servers: ServerWatch) => Promise<PaymentJournal>;
}

/** Starts two chains and an engine on a separate database. */
export async function startEngineWorld(options: WorldOptions = {}): Promise<EngineWorld> {
  const clock = adjustableClock();
  const prices = adjustablePrices({ ethereum: "2500", "usd-coin": "1", "causeway-test-token": "0.5" });
  const events = recordedEvents();
  const solver = localAccount("solver");
  const executor = localAccount("executor");
  const depositAddressOperator = localAccount("depositAddressOperator");
  const user = localAccount("user", 0);
  const stranger = localAccount("user", 1);
  const solverAddress = solver.address.toLowerCase() as Address;
  const localChains = readLocalChains(nodeEnvironment({ portA: await freePort(), portB: await freePort() }));
  const [database, ...chains] = await Promise.all([
    options.database ?? createTestDatabase(),
    ...localChains.map(
      async (chain) =>
        await startTestChain((rpcUrl) => ({ ...chain, ...options.chain, rpcUrl }), chain.id, {
          state: savedState(chain.id),
          clock,
          solver: solverAddress,
          gasPayers: [executor, depositAddressOperator].map(
            ({ address }) => address.toLowerCase() as Address,
          ),
          onFault: (error) => events.fault("chain_fault", error, { chain: chain.name }),
        }),
    ),
  ]);
  const [origin, destination] = chains;
  if (origin === undefined || destination === undefined)
    throw new Error("fewer than two local chains are configured");
  const pool = createPool(database.url, { max: 8, statementTimeoutMs: 10_000, applicationName: "test" });
  const sql = sqlOn(pool);
  const servers = watchServer(() => clock.nowMs());
  const journal = await options.journal?.(servers);
  const services: WorkerServices = {
    ...(journal && { journal }),
    clock,
    prices,
    events,
    signer: rawKeySigner(solver.privateKey),
    formerSigners: [],
    executor: rawKeySigner(executor.privateKey),
    depositAddressOperator: rawKeySigner(depositAddressOperator.privateKey),
    chains: createChainDirectory(chains.map(({ connected }) => connected)),
    ...noPools,
    uow: postgresUnitOfWork(pool, events, servers),
    reads: postgresReads(sql, servers),
    balances: balanceReads(sql),
    depositAddresses: depositAddressReads(sql),
    quotePolicy: {
      ...defaultFeePolicy,
      gas: measuredQuoteGas,
      maxTtlSeconds: 7 * 24 * 3600,
      solverChainName: origin.chain.name,
    },
    enginePolicy: { ...enginePolicy, ...options.policy },
    planFaults: createPlanFaults(),
    appBalance: {
      chainId: origin.chain.id,
      currencies: inChargeOrder([origin.chain.native, ...origin.chain.tokens], "usdc"),
      confirmations: 2,
      minTopUpUsd: 0n,
      claimLifetimeSeconds: 600,
    },
  };
  const quoting = {
    ...services,
    solver: solverAddress,
    random: { bytes32: () => `0x${randomBytes(32).toString("hex")}` as const },
    requests: storeQuotes(services, groupedQuoteInserts(sql)),
    recipientCodes: createCodeCache(services.chains),
    sponsors: sponsorReads(sql),
    permitTokens: createTokenPermits(services.chains, services.clock),
    reservations: { reserved: () => 0n },
    timings: { estimateSeconds: () => 1 },
    signOrder: async (order: Order) => ({ personal: orderIdOf(order), typed: orderIdOf(order) }),
  };
  await Promise.all(
    chains.map(async (chain) => {
      await chain.announce();
      await openLane(services, chain.connected);
      await loadTrail(services, chain.connected);
    }),
  );
  const usdc = (origin.chain.tokens.find(({ id }) => id === "usdc") as { address: Address }).address;
  let unfinishedJobs: { job: JobName; payload: unknown }[] = [];

  const world: EngineWorld = {
    services,
    clock,
    prices,
    events,
    pool,
    databaseUrl: database.url,
    origin,
    destination,
    solver: { ...solver, address: solverAddress },
    user: { ...user, address: user.address.toLowerCase() as Address },
    stranger: { ...stranger, address: stranger.address.toLowerCase() as Address },
    usdc,
    anAddress: () => `0x${randomBytes(20).toString("hex")}`,
    async quote(overrides = {}, apiKey, replacements = {}) {
      const input = {
        user: world.user.address,
        originChainId: origin.chain.id,
        destinationChainId: destination.chain.id,
        originCurrency: usdc,
        destinationCurrency: usdc,
        amount: "100000000",
        tradeType: "EXACT_INPUT" as const,
        ...overrides,
      };
      // A test may have opened pools since the start.
      const quoteServices = { ...quoting, liquidity: services.liquidity, ...replacements };
      const answer = await (typeof apiKey === "object"
        ? createQuote(quoteServices, input, apiKey.id, apiKey)
        : createQuote(quoteServices, input, apiKey));
      const requestId = answer.requestId as RequestId;
      const since = new Map(
        chains.map(({ chain, connected }) => [chain.id, connected.connection.heads.latest?.number ?? 0n]),
      );
      return { answer, requestId, since, terms: (await world.request(requestId)).terms };
    },
    async pay({ answer, terms }, from = world.user) {
      const chain =
        [origin, destination].find((candidate) => candidate.chain.id === terms.origin.chainId) ?? origin;
      let hash: TxHash = "0x";
      for (const data of transactionsOf(answer.steps))
        hash = await chain.send(from, {
          to: data.to as Address,
          data: data.data as TxHash,
          value: BigInt(data.value),
        });
      return hash;
    },
    async watch(chain, processServices = services) {
      const connected = processServices.chains.get(chain.chain.id);
      if (connected === undefined) throw new Error("both chains are in the directory");
      const head = await chain.announce();
      const trail = await scanChain(
        processServices,
        connected,
        await loadTrail(processServices, connected),
        head,
      );
      await trackLane(processServices, connected, trail);
      await trackSends(processServices, connected, trail);
      let last = await followReports(processServices, connected, trail, undefined);
      while (last !== undefined) last = await followReports(processServices, connected, trail, last);
      await recheckFinalBlocks(processServices, connected, trail);
      return trail;
    },
    async work(processServices = services) {
      const { rows } = await pool.query<{ job_name: JobName; payload: string }>(
        `with published as (update outbox set published_at_ms = 1 where published_at_ms is null returning *)
         select job_name, payload from published order by id`,
      );
      const jobs = [
        ...unfinishedJobs,
        ...rows.map((row) => ({ job: row.job_name, payload: JSON.parse(row.payload) as unknown })),
      ];
      unfinishedJobs = [];
      for (const job of jobs) {
        const progress = await runJob(processServices, job.job, job.payload);
        if (progress.waitMs > 0) unfinishedJobs.push(job);
      }
    },
    async maintainLaneOf(chain, processServices = services) {
      const connected = processServices.chains.get(chain.chain.id);
      if (connected) await maintainLane(processServices, connected);
    },
    async round(processServices = services, blocks = 1) {
      for (const chain of [origin, destination]) {
        await chain.mine(blocks);
        await world.watch(chain, processServices);
      }
      await reconcileRequests(processServices);
      await world.work(processServices);
      for (const chain of [origin, destination]) await world.maintainLaneOf(chain, processServices);
    },
    async untilFinal(requestId, stepMs = 20_000) {
      for (let round = 0; round < 30; round++) {
        const status = await world.status(requestId);
        if (status.final) return status;
        clock.forward(stepMs);
        await world.round();
      }
      throw new Error(`still ${JSON.stringify(await world.status(requestId))}`);
    },
    async status(requestId) {
      const status = await requestStatus(services, requestId);
      if (status === undefined) throw new Error(`no request ${requestId}`);
      return status;
    },
    async statusesOf(requestId) {
      const { rows } = await pool.query<{ detail: string }>(
        "select detail from request_events where request_id = $1 order by id",
        [requestId],
      );
      return publicStatuses(rows.map((row) => JSON.parse(row.detail) as { to?: StateName }));
    },
    async request(requestId) {
      const record = await services.reads.request(requestId);
      if (record === undefined) throw new Error(`no request ${requestId}`);
      return record;
    },
    async depositsOf(requestId) {
      const { rows } = await pool.query<{ id: number }>(
        "select id from deposits where request_id = $1 order by id",
        [requestId],
      );
      const deposits = await Promise.all(
        rows.map(async ({ id }) => await services.reads.deposit(String(id))),
      );
      return deposits.filter((deposit) => deposit !== undefined);
    },
    async paymentsOf({ terms, since }, chain) {
      const sent = await chain.sentBy(solverAddress, since.get(chain.chain.id));
      return sent.filter(({ input, succeeded }) => succeeded && input.endsWith(terms.orderId.slice(2)));
    },
    async stop() {
      await pool.end();
      await Promise.all([...chains.map(async (chain) => await chain.stop()), database.drop()]);
    },
  };
  return world;
}

function savedState(chainId: number): string {
  const file = inject("chainStates")[chainId];
  if (file === undefined) throw new RangeError(`no saved state of chain ${chainId}`);
  return file;
}

function publicStatuses(details: readonly { readonly to?: StateName }[]): string[] {
  const statuses = [
    "waiting",
    ...details.flatMap(({ to }) => (to === undefined ? [] : [publicStatus({ name: to })])),
  ];
  return statuses.filter((status, at) => status !== statuses[at - 1]);
}
