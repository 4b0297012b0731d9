import { TOP_UP_MARKER, type BlockRef } from "@causeway/chains";
import type {
  Address,
  Chain,
  Currency,
  Hex32,
  RequestId,
  RequestTerms,
  SponsorshipRules,
} from "@causeway/domain";
import { defaultSponsorshipRules, keccakOf } from "@causeway/domain";
import { rulesToJson, type QuoteAnswer, type QuoteInput } from "@causeway/wire";
import type pg from "pg";
import { toHex } from "viem";
import { runJob } from "../support/run-job.ts";
import type { ApiKeyIdentity } from "../../apps/api/src/http/api-keys.port.ts";
import type { ConnectedChain } from "../../apps/api/src/chains/chains.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import type { JobName } from "../../apps/api/src/db/job-name.port.ts";
import { createQuote } from "../../apps/api/src/quotes/create-quote.ts";
import { checkFactoryAtStart } from "../../apps/api/src/deposits/addresses/check-factory.ts";
import { maintainLane } from "../../apps/api/src/payments/maintain-lane.ts";
import { openLane } from "../../apps/api/src/payments/open-lane.ts";
import { recheckFinalBlocks } from "../../apps/api/src/deposits/recheck-final-blocks.ts";
import { reconcileRequests } from "../../apps/api/src/reconcile/reconcile-requests.ts";
import { TrailMoved, loadTrail, scanChain } from "../../apps/api/src/deposits/scan-chain.ts";
import { followReports } from "../../apps/api/src/deposits/follow-reports.ts";
import { trackLane } from "../../apps/api/src/payments/track-lane.ts";
import { trackSends } from "../../apps/api/src/payments/track-sends.ts";
import { anApiKey } from "../fakes/api-keys.ts";
import { adjustablePrices, type AdjustablePrices } from "../fakes/adjustable-prices.ts";
import { crashingServices, type CrashingServices } from "../fakes/crashing-services.ts";
import { recordedEvents, type RecordedEvents } from "../fakes/recorded-events.ts";
import {
  APP_WALLETS,
  EXECUTORS,
  FACTORY_OWNER,
  FIRST_CONFIGURATION,
  OPERATORS,
  SOLVERS,
  USERS,
  type Configuration,
} from "./keys.ts";
import { DEX, pairOf, pairsOf } from "./memory-dex.ts";
import { NATIVE } from "./memory-evm.ts";
import { isNodeFault } from "./node-trouble.ts";
import type { Trouble } from "./troubles.ts";
import type { SequenceChain, SequenceNodes } from "./sequence-chain.ts";
import { startService, workerSide, type Surroundings, type WorkerSide } from "./service.ts";

/**
 * The real use cases on a real database and two chains. Time, randomness and ids come only from the sequence.
 */

export interface WorldChain {
  /** A chain in memory, or the copy in memory of a real node. */
  readonly memory: SequenceChain;
  readonly chain: Chain;
}

export interface Quoted {
  readonly answer: QuoteAnswer;
  readonly terms: RequestTerms;
  readonly requestId: RequestId;
  readonly input: QuoteInput;
  readonly keyId: string | undefined;
}

export interface SequenceWorld {
  readonly services: WorkerServices;
  /** The services of the process that answers calls. That process may be about to crash. */
  readonly api: WorkerServices;
  /** How many processes have crashed so far. */
  readonly crashes: number;
  readonly events: RecordedEvents;
  readonly prices: AdjustablePrices;
  readonly pool: pg.Pool;
  readonly chains: readonly [WorldChain, WorldChain];
  /** The solver that new quotes name. */
  readonly solver: Address;
  readonly configuration: Configuration;
  /** Lost solver keys, each with the Unix second from which it signs nothing. */
  readonly lostSolvers: ReadonlyMap<Address, number>;
  readonly users: readonly Address[];
  readonly apps: readonly ApiKeyIdentity[];
  /** Ids of revoked API keys. */
  readonly revoked: ReadonlySet<string>;
  setRules(app: number, rules: SponsorshipRules): Promise<void>;
  revoke(app: number): Promise<void>;
  readonly quotes: Quoted[];
  /** Errors of jobs, watchers and reconcilers that no rule of the service expects. */
  readonly faults: unknown[];
  /** Changes whenever the service may have stored something. */
  readonly revision: number;
  nowMs(): number;
  forward(ms: number): void;
  /** The next 32 bytes of a deterministic series. */
  bytes32(): Hex32;
  freshAddress(): Address;
  chainOf(chainId: number): WorldChain;
  currencyOf(chainId: number, address: Address): Currency;
  quote(input: QuoteInput, key?: ApiKeyIdentity): Promise<Quoted>;
  /** Mines `blocks` on both chains without running workers. */
  mine(blocks: number): Promise<void>;
  /** Mines `blocks` on both chains, then runs watchers and workers once. */
  round(blocks?: number): Promise<void>;
  /** Runs watchers, reconcilers and workers, without a block. */
  act(workers?: 1 | 2): Promise<void>;
  /** Loses all queued jobs, as when the queue crashes. */
  loseJobs(): Promise<void>;
  /** Makes the process crash at a later moment, if it reaches that moment. */
  scheduleCrash(crash: ScheduledCrash): void;
  /** Restarts the process if it has crashed. */
  recover(): Promise<void>;
  /**
   * Gives a chain's node trouble for this many rounds of workers.
   *
   * @returns false if the node is a real one, which cannot have trouble
   */
  trouble(chain: 0 | 1, trouble: Trouble, rounds: number): boolean;
  isTroubled(): boolean;
  /** Whether a node has hidden logs that the service may not have read yet. */
  hidesLogs(): boolean;
  /** Ends all trouble of nodes, and lets the service read what they withheld. */
  heal(): Promise<void>;
  /** Restarts the process with this configuration. */
  restart(configuration: Configuration): Promise<void>;
  loseSolver(solver: Address): void;
  reportFault(where: string, error: unknown): void;
  close(): void;
}

/** When a process crashes: at a moment whose name starts with `moment`, after `skipped` such moments. */
export interface ScheduledCrash {
  readonly moment: string;
  readonly skipped: number;
}

export const START_MS = 1_700_000_000_000;
const WHOLE = { usdc: 1_000_000n, tst: 10_000_000n, eth: 10_000n };
/** Whole tokens that each user holds and the solver does not. */
const WHOLE_OF_USERS = { weth: 1_000n, odd: 1_000_000n };
/** The value in USD of each of the two reserves of a pool. */
const POOLED_USD = 3_000_000;
export const START_PRICES = {
  ethereum: "2500",
  "usd-coin": "1",
  "causeway-test-token": "0.5",
  "causeway-odd-token": "4",
} as const;

/** Gives every account its initial funds and allowances. */
async function fund(memory: SequenceChain): Promise<void> {
  const { chain } = memory;
  for (const holder of [SOLVERS[0], ...USERS, ...APP_WALLETS]) {
    await memory.give(NATIVE, holder, WHOLE.eth * 10n ** 18n);
    for (const { id, address, decimals } of chain.tokens) {
      const whole = id === "usdc" ? WHOLE.usdc : id === "tst" ? WHOLE.tst : 0n;
      if (whole > 0n) await memory.give(address, holder, whole * 10n ** BigInt(decimals));
    }
  }
  if (chain.liquidity !== undefined) await fundPools(memory);
  for (const key of [...EXECUTORS, ...OPERATORS, FACTORY_OWNER])
    await memory.give(NATIVE, key, 1_000n * 10n ** 18n);
  for (const { address } of chain.tokens)
    for (const holder of [...USERS, ...SOLVERS])
      for (const spender of [
        chain.contracts.depository,
        chain.contracts.approvalProxy,
        ...(chain.liquidity === undefined ? [] : [DEX]),
      ])
        await memory.approve(address, holder, spender, 2n ** 255n);
}

/** Creates the reserves of pools, and the native tokens that back the wrapped token. */
async function fundPools(memory: SequenceChain): Promise<void> {
  const { chain } = memory;
  for (const { id, address, decimals } of chain.tokens)
    if (id === "weth" || id === "odd")
      for (const user of USERS)
        await memory.give(address, user, WHOLE_OF_USERS[id] * 10n ** BigInt(decimals));
  const wrapped = chain.liquidity?.wrappedNative;
  if (wrapped !== undefined) await memory.give(NATIVE, wrapped, 100n * WHOLE.eth * 10n ** 18n);
  for (const pair of pairsOf(chain))
    for (const token of pair) {
      const found = chain.tokens.find(({ address }) => address === token);
      const usd = Object.entries(START_PRICES).find(([id]) => id === found?.priceId)?.[1];
      if (found === undefined || usd === undefined) throw new Error(`no price of ${token}`);
      const whole = BigInt(Math.round(POOLED_USD / Number(usd)));
      await memory.give(token, pairOf(...pair), whole * 10n ** BigInt(found.decimals));
    }
}

/** What one process keeps from one sequence to the next. */
export interface SequenceHome {
  readonly pool: pg.Pool;
  /** Removes every row. */
  readonly empty: () => Promise<void>;
  readonly nodes: SequenceNodes;
}

export async function startSequenceWorld(home: SequenceHome): Promise<SequenceWorld> {
  await home.empty();
  const { pool } = home;
  let currentMs = START_MS;
  let drawCount = 0;
  let revision = 0;
  const clock = { nowMs: () => currentMs };
  const events = recordedEvents();
  const prices = adjustablePrices(START_PRICES);
  const faults: unknown[] = [];
  const reportFault = (where: string, error: unknown): void => {
    if (!world.isTroubled() || !isNodeFault(error)) faults.push(new Error(where, { cause: error }));
  };
  const bytes32 = (): Hex32 => keccakOf(toHex(`random ${++drawCount}`));

  const nodes = await home.nodes.start(fund);
  const [chainA, chainB] = nodes;
  const chains: readonly [WorldChain, WorldChain] = [
    { chain: chainA.chain, memory: chainA },
    { chain: chainB.chain, memory: chainB },
  ];
  const { signer } = home.nodes;
  const surroundings: Surroundings = {
    pool,
    clock,
    events,
    prices,
    bytes32,
    reportFault,
    nodes,
    signer,
    liquidity: home.nodes.liquidity?.(nodes),
  };
  let troubledRounds = 0;
  let configuration = FIRST_CONFIGURATION;
  let service = startService(surroundings, configuration);
  let aboutToCrash: CrashingServices | undefined;
  let crashes = 0;
  const revoked = new Set<string>();
  const lostSolvers = new Map<Address, number>();
  const apps = APP_WALLETS.map((fundingAddress, at) =>
    anApiKey({
      id: `00000000000000a${at}`,
      fundingAddress,
      // The first app may fast fill before the user has paid.
      rules: { ...defaultSponsorshipRules, maxCallValueUsd: 10n ** 20n, allowUnsubmitted: at === 0 },
    }),
  );
  const announce = async ({ chain }: WorldChain): Promise<void> => {
    const watched = service.connected.get(chain.id);
    const head = await watched?.connection.reader.head();
    if (watched === undefined || head === undefined) return;
    watched.connection.heads.announce(head, clock.nowMs());
    await watched.pulse.refresh();
  };
  const open = async (): Promise<void> => {
    const { services, connected } = service;
    for (const worldChain of chains) await announce(worldChain);
    for (const watched of connected.values()) {
      await checkFactoryAtStart(services, watched, events);
      await openLane(services, watched);
      await loadTrail(services, watched);
    }
  };
  for (const { id, label, scopes, fundingAddress, rules } of apps)
    await pool.query(
      `insert into api_keys (id, label, secret_hash, scopes, referrers, origins, funding_address, rules, created_at_ms, updated_at_ms)
       values ($1, $2, decode($1, 'hex'), $3, '{}', '{}', $4, $5, 1, 1)`,
      [id, label, scopes, fundingAddress, JSON.stringify(rulesToJson(rules))],
    );
  await open();

  /** The trails that a process's watchers keep. A trail is loaded again after a fault. */
  const trails = new Map<number, readonly BlockRef[]>();
  let waiting: readonly { readonly job: JobName; readonly payload: unknown }[] = [];
  /** Runs `work` and reports its error, unless the process crashed or another process won a race. */
  const guarded = async (where: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (aboutToCrash?.hasCrashed() !== true && !(error instanceof TrailMoved)) reportFault(where, error);
    }
  };
  const watch = async (
    { services, addressWatches }: WorkerSide,
    connected: ConnectedChain,
  ): Promise<void> => {
    const head = connected.connection.heads.latest;
    if (head === undefined) return;
    const { id } = connected.chain;
    const before = trails.get(id) ?? (await loadTrail(services, connected));
    trails.delete(id);
    const trail = await scanChain(services, connected, before, head);
    trails.set(id, trail);
    const tip = before.at(-1);
    const reorged = tip !== undefined && !trail.some(({ hash }) => hash === tip.hash);
    await trackLane(services, connected, trail, { reorged });
    if (world.quotes.some(({ terms }) => terms.kind !== "bridge")) {
      await trackSends(services, connected, trail);
      let last = await followReports(services, connected, trail, undefined);
      while (last !== undefined) last = await followReports(services, connected, trail, last);
    }
    await recheckFinalBlocks(services, connected, trail);
    if (hasAddresses()) await addressWatches.get(id)?.scan(head.number);
  };
  const hasAddresses = (): boolean => world.quotes.some(({ terms }) => terms.depositAddress !== undefined);
  interface WaitingJob {
    readonly job: JobName;
    readonly payload: unknown;
  }
  /**
   * One round of a worker.
   * @returns jobs that must run again
   */
  const work = async (
    side: WorkerSide,
    jobs: () => Promise<readonly WaitingJob[]>,
  ): Promise<WaitingJob[]> => {
    const { services } = side;
    for (const connectedChain of side.connected.values())
      await guarded(`watching ${connectedChain.chain.name}`, async () => await watch(side, connectedChain));
    const faultsBefore = events.of("reconcile_fault").length;
    await guarded("reconciling", async () => await reconcileRequests(services));
    for (const { error } of events.of("reconcile_fault").slice(faultsBefore))
      await guarded("a part of reconciling", async () => await Promise.reject(error));
    const jobsToRepeat: WaitingJob[] = [];
    for (const { job, payload } of await jobs()) {
      // If the worker crashes, another worker runs the job.
      let waits = true;
      await guarded(`job ${job}`, async () => {
        waits = false;
        const progress = await runJob(services, job, payload);
        waits = progress.waitMs > 0;
      });
      if (waits || aboutToCrash?.hasCrashed() === true) jobsToRepeat.push({ job, payload });
    }
    for (const connectedChain of side.connected.values())
      await guarded(
        `lane of ${connectedChain.chain.name}`,
        async () => await maintainLane(services, connectedChain),
      );
    return jobsToRepeat;
  };
  const takeJobs = async (): Promise<readonly { readonly job: JobName; readonly payload: unknown }[]> => {
    const { rows } = await pool.query<{ job_name: JobName; payload: string }>(
      `with published as (update outbox set published_at_ms = 1 where published_at_ms is null returning *)
       select job_name, payload from published order by id`,
    );
    const jobs = [
      ...waiting,
      ...rows.map((row) => ({ job: row.job_name, payload: JSON.parse(row.payload) as unknown })),
    ];
    waiting = [];
    return jobs;
  };
  const world: SequenceWorld = {
    get services() {
      return service.services;
    },
    get api() {
      return aboutToCrash ?? service.services;
    },
    get crashes() {
      return crashes;
    },
    events,
    prices,
    pool,
    chains,
    get solver() {
      return configuration.solver;
    },
    get configuration() {
      return configuration;
    },
    lostSolvers,
    revoked,
    async setRules(appIndex, rules) {
      const app = apps[appIndex];
      if (app === undefined) return;
      apps[appIndex] = { ...app, rules };
      await pool.query("update api_keys set rules = $2 where id = $1", [
        app.id,
        JSON.stringify(rulesToJson(rules)),
      ]);
    },
    async revoke(appIndex) {
      const id = apps[appIndex]?.id;
      if (id === undefined) return;
      revoked.add(id);
      await pool.query("update api_keys set revoked_at_ms = $2 where id = $1", [id, currentMs]);
    },
    users: USERS,
    apps,
    quotes: [],
    faults,
    get revision() {
      return revision;
    },
    nowMs: clock.nowMs,
    forward: (ms) => {
      currentMs += ms;
    },
    bytes32,
    freshAddress: () => `0x${bytes32().slice(26)}`,
    chainOf(chainId) {
      const found = chains.find(({ chain }) => chain.id === chainId);
      if (found === undefined) throw new Error(`no chain ${chainId}`);
      return found;
    },
    currencyOf(chainId, address) {
      const { chain } = world.chainOf(chainId);
      const found = [chain.native, ...chain.tokens].find((currency) => currency.address === address);
      if (found === undefined) throw new Error(`no currency ${address}`);
      return found;
    },
    async quote(input, key) {
      revision++;
      const answer = await createQuote(service.quoting, input, key?.id, key);
      const requestId = answer.requestId as RequestId;
      const record = await service.services.reads.request(requestId);
      if (record === undefined) throw new Error("invariant violated: a quote is not stored");
      const quoted: Quoted = { answer, requestId, terms: record.terms, input, keyId: key?.id };
      world.quotes.push(quoted);
      return quoted;
    },
    async act(workers = 1) {
      revision++;
      for (const worldChain of chains)
        await guarded(`announcing ${worldChain.chain.name}`, async () => await announce(worldChain));
      const crashing = aboutToCrash;
      const side =
        crashing === undefined
          ? service
          : workerSide(
              crashing,
              new Map(
                [...service.connected].map(([chainId, connectedChain]) => [
                  chainId,
                  crashing.crashingChain(connectedChain),
                ]),
              ),
              surroundings,
            );
      let takenJobs: Promise<readonly WaitingJob[]> | undefined;
      const jobs = (): Promise<readonly WaitingJob[]> => (takenJobs ??= takeJobs());
      const [jobsToRepeat] = await Promise.all(
        Array.from({ length: workers }, async () => await work(side, jobs)),
      );
      waiting = [...(jobsToRepeat ?? []), ...waiting];
      await world.recover();
      aboutToCrash = undefined;
      if (--troubledRounds <= 0) for (const { memory } of chains) memory.node?.rescue();
    },
    trouble(chainIndex, trouble, rounds) {
      const { node } = chains[chainIndex].memory;
      if (node === undefined) return false;
      node.trouble(trouble);
      troubledRounds = rounds;
      return true;
    },
    isTroubled: () => chains.some(({ memory }) => memory.node?.isTroubled() === true),
    hidesLogs: () => chains.some(({ memory }) => memory.node?.hidLogs() === true),
    async heal() {
      for (const { memory } of chains) memory.node?.rescue();
      // The service reads final blocks a second time once there are enough of them.
      if (world.hidesLogs()) for (let round = 0; round < 4; round++) await world.round(9);
    },
    async mine(blocks) {
      for (let block = 0; block < blocks; block++) {
        currentMs += 2_000;
        for (const { memory } of chains) await memory.mine(Math.floor(currentMs / 1000));
      }
    },
    async round(blocks = 1) {
      await world.mine(blocks);
      await world.act();
    },
    async loseJobs() {
      await takeJobs();
    },
    scheduleCrash: ({ moment, skipped }) => {
      let remaining = skipped;
      aboutToCrash = crashingServices(
        service.services,
        (name) => name.startsWith(moment) && remaining-- === 0,
      );
    },
    async recover() {
      if (aboutToCrash?.hasCrashed() !== true) return;
      crashes++;
      await world.restart(configuration);
    },
    async restart(next) {
      aboutToCrash = undefined;
      for (const { memory } of chains) memory.node?.rescue();
      revision++;
      trails.clear();
      service.close();
      configuration = next;
      service = startService(surroundings, configuration);
      await open();
    },
    loseSolver: (solver) => {
      revision++;
      lostSolvers.set(solver, Math.floor(currentMs / 1000));
    },
    reportFault,
    close: () => service.close(),
  };
  return world;
}

/** Top-ups of the two apps before a sequence, in base units of USDC: a large and a small one. */
export const APP_TOP_UPS: readonly bigint[] = [20_000n * 10n ** 6n, 700n * 10n ** 6n];

/** Calldata that marks a transfer to the solver as a top-up of the sender's balance. */
export const TOP_UP_TAIL = `${TOP_UP_MARKER}${"00".repeat(20)}${TOP_UP_MARKER}`;
