import { TOP_UP_MARKER } from "@causeway/chains";
import type { Address, Chain, Currency, Hex, Hex32, RequestId, RequestTerms } from "@causeway/domain";
import { defaultFeePolicy, defaultSponsorshipRules, inChargeOrder, keccakOf } from "@causeway/domain";
import { nodeEnvironment, readLocalChains } from "@causeway/localnet";
import { rulesToJson, type QuoteAnswer, type QuoteInput } from "@causeway/wire";
import type pg from "pg";
import { toHex } from "viem";
import { createCodeCache } from "../../apps/api/src/adapters/chains/code-cache.ts";
import { createChainDirectory } from "../../apps/api/src/adapters/chains/directory.ts";
import { createChainPulse, type OwnedChainPulse } from "../../apps/api/src/adapters/chains/pulse.ts";
import { balanceReads } from "../../apps/api/src/adapters/postgres/balance-reads.ts";
import { depositAddressReads } from "../../apps/api/src/adapters/postgres/deposit-address-reads.ts";
import { sqlOn } from "../../apps/api/src/adapters/postgres/pool.ts";
import { groupedQuoteInserts } from "../../apps/api/src/adapters/postgres/quoted-requests.ts";
import { postgresReads } from "../../apps/api/src/adapters/postgres/reads.ts";
import { sponsorReads } from "../../apps/api/src/adapters/postgres/sponsors.ts";
import { postgresUnitOfWork } from "../../apps/api/src/adapters/postgres/unit-of-work.ts";
import { addressServices } from "../../apps/api/src/container-deposit-addresses.ts";
import { catalog } from "../../apps/api/src/jobs/catalog.ts";
import type { ApiKeyIdentity } from "../../apps/api/src/ports/api-keys.ts";
import type { ConnectedChain } from "../../apps/api/src/ports/chains.ts";
import type { Services } from "../../apps/api/src/ports/services.ts";
import type { JobName } from "../../apps/api/src/ports/unit-of-work.ts";
import { reconcileClaims } from "../../apps/api/src/usecases/app-balance/reconcile-claims.ts";
import { createQuote } from "../../apps/api/src/usecases/create-quote.ts";
import { storeQuotes } from "../../apps/api/src/usecases/deposit-addresses/give-address.ts";
import { createAddressWatch } from "../../apps/api/src/usecases/deposit-addresses/address-watch.ts";
import { reconcileSweeps } from "../../apps/api/src/usecases/deposit-addresses/reconcile-sweeps.ts";
import { nudgeLane } from "../../apps/api/src/usecases/nudge-lane.ts";
import { openLane } from "../../apps/api/src/usecases/open-lane.ts";
import { measuredQuoteGas } from "../../apps/api/src/usecases/quote-gas.ts";
import { recheckFinalBlocks } from "../../apps/api/src/usecases/recheck-final-blocks.ts";
import { reconcileRequests } from "../../apps/api/src/usecases/reconcile-requests.ts";
import { loadTrail, scanChain } from "../../apps/api/src/usecases/scan-chain.ts";
import { followReports } from "../../apps/api/src/usecases/follow-reports.ts";
import { trackLane } from "../../apps/api/src/usecases/track-lane.ts";
import { trackSends } from "../../apps/api/src/usecases/track-sends.ts";
import { anApiKey } from "../fakes/api-keys.ts";
import { adjustablePrices, type AdjustablePrices } from "../fakes/adjustable-prices.ts";
import { recordedEvents, type RecordedEvents } from "../fakes/recorded-events.ts";
import { steppedHeads } from "../fakes/stepped-heads.ts";
import { enginePolicy } from "../support/engine-policy.ts";
import { BURNT_DAILY_USD, UNREPAID_DAILY_USD } from "./bounds.ts";
import { memoryChain, type MemoryChain } from "./memory-chain.ts";
import { OPERATOR_CELL } from "./memory-contracts.ts";
import { NATIVE, allowanceKey } from "./memory-evm.ts";
import { memoryReader, memoryWriter } from "./memory-reader.ts";
import { forgetSignatures, memorySigner } from "./memory-signer.ts";
import type { SequenceChain } from "./sequence-chain.ts";

/** The real use cases on a real database and two chains in memory; time, randomness and ids come from the sequence alone. */

export interface WorldChain {
  readonly memory: SequenceChain;
  readonly connected: ConnectedChain & { readonly pulse: OwnedChainPulse };
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
  readonly services: Services;
  readonly events: RecordedEvents;
  readonly prices: AdjustablePrices;
  readonly pool: pg.Pool;
  readonly chains: readonly [WorldChain, WorldChain];
  readonly solver: Address;
  readonly users: readonly Address[];
  readonly apps: readonly ApiKeyIdentity[];
  readonly quotes: Quoted[];
  /** Errors of jobs, watchers and reconcilers that no rule of the service expects. */
  readonly faults: unknown[];
  nowMs(): number;
  forward(ms: number): void;
  /** Fresh deterministic 32 bytes. */
  bytes32(): Hex32;
  freshAddress(): Address;
  chainOf(chainId: number): WorldChain;
  currencyOf(chainId: number, address: Address): Currency;
  quote(input: QuoteInput, key?: ApiKeyIdentity): Promise<Quoted>;
  /** Mines `blocks` on both chains, then does what watchers and workers do once. */
  round(blocks?: number): Promise<void>;
  /** What watchers, reconcilers and workers do, without a block. */
  act(): Promise<void>;
  /** Jobs that wait in the queue are lost, as with a worker that dies. */
  loseJobs(): Promise<void>;
  reportFault(where: string, error: unknown): void;
  close(): void;
}

export const START_MS = 1_700_000_000_000;
const WHOLE = { usdc: 1_000_000n, tst: 10_000_000n, eth: 10_000n };
export const START_PRICES = { ethereum: "2500", "usd-coin": "1", "causeway-test-token": "0.5" } as const;

const [chainA, chainB] = readLocalChains(nodeEnvironment({ portA: 1, portB: 2 })).map(
  ({ liquidity: _, ...chain }): Chain => ({ ...chain, rpcUrl: "http://127.0.0.1:1" }),
);
if (chainA === undefined || chainB === undefined) throw new Error("two local chains are configured");

const addressOf = (name: string): Address => `0x${keccakOf(toHex(name)).slice(26)}`;
export const SOLVER = addressOf("solver");
export const EXECUTOR = addressOf("executor");
export const OPERATOR = addressOf("deposit address operator");
/** Every key of the service. */
export const OUR_KEYS: readonly Address[] = [SOLVER, EXECUTOR, OPERATOR];
export const USERS: readonly Address[] = [addressOf("alice"), addressOf("bob"), addressOf("mallory")];
export const APP_WALLETS: readonly Address[] = [addressOf("app one"), addressOf("app two")];

/** Money everybody begins with, on both chains. */
async function fund(memory: MemoryChain): Promise<void> {
  const { chain } = memory;
  for (const holder of [SOLVER, ...USERS, ...APP_WALLETS]) {
    await memory.give(NATIVE, holder, WHOLE.eth * 10n ** 18n);
    for (const { id, address, decimals } of chain.tokens) {
      const whole = id === "usdc" ? WHOLE.usdc : id === "tst" ? WHOLE.tst : 0n;
      if (whole > 0n) await memory.give(address, holder, whole * 10n ** BigInt(decimals));
    }
  }
  for (const key of [EXECUTOR, OPERATOR]) await memory.give(NATIVE, key, 1_000n * 10n ** 18n);
  memory.setCell(OPERATOR_CELL, BigInt(OPERATOR));
  for (const { address } of chain.tokens)
    for (const holder of [...USERS, SOLVER])
      for (const spender of [chain.contracts.depository, chain.contracts.approvalProxy])
        memory.setCell(allowanceKey(address, holder, spender), 2n ** 255n);
}

/** Everything that one process keeps between sequences. */
export interface SequenceHome {
  readonly pool: pg.Pool;
  /** Removes every row. */
  readonly empty: () => Promise<void>;
}

export async function startSequenceWorld(home: SequenceHome): Promise<SequenceWorld> {
  forgetSignatures();
  await home.empty();
  const { pool } = home;
  let atMs = START_MS;
  let drawn = 0;
  const clock = { nowMs: () => atMs };
  const events = recordedEvents();
  const prices = adjustablePrices(START_PRICES);
  const faults: unknown[] = [];
  const reportFault = (where: string, error: unknown): void => {
    faults.push(new Error(where, { cause: error }));
  };
  const bytes32 = (): Hex32 => keccakOf(toHex(`random ${++drawn}`));

  const start = async (chain: Chain): Promise<WorldChain> => {
    const memory = memoryChain(chain);
    await fund(memory);
    const heads = steppedHeads();
    const connection = {
      reader: memoryReader(memory),
      writer: memoryWriter(memory),
      heads,
      close: async () => undefined,
    };
    const pulse = createChainPulse({
      chain,
      connection,
      clock,
      solver: SOLVER,
      gasPayers: [EXECUTOR, OPERATOR],
      maxAgeMs: Number.MAX_SAFE_INTEGER,
      quietRefreshMs: 2 ** 30,
      onFault: (error) => reportFault("pulse", error),
    });
    return { chain, memory, connected: { chain, connection, pulse } };
  };
  const chains: readonly [WorldChain, WorldChain] = [
    await start(chainA as Chain),
    await start(chainB as Chain),
  ];
  const sql = sqlOn(pool);
  const home0 = chains[0].chain;
  const services: Services = {
    clock,
    prices,
    events,
    signer: memorySigner(SOLVER),
    executor: memorySigner(EXECUTOR),
    depositAddressOperator: memorySigner(OPERATOR),
    chains: createChainDirectory(chains.map(({ connected }) => connected)),
    uow: postgresUnitOfWork(pool),
    reads: postgresReads(sql),
    balances: balanceReads(sql),
    depositAddresses: depositAddressReads(sql),
    quotePolicy: {
      ...defaultFeePolicy,
      gas: measuredQuoteGas,
      maxTtlSeconds: 7 * 24 * 3600,
      solverChainName: home0.name,
    },
    enginePolicy: {
      ...enginePolicy,
      maxUnrepaidRefundsUsd: UNREPAID_DAILY_USD,
      maxUnpaidBurntUsd: BURNT_DAILY_USD,
    },
    appBalance: {
      chainId: home0.id,
      currencies: inChargeOrder([home0.native, ...home0.tokens], "usdc"),
      confirmations: 2,
      leastTopUpUsd: 0n,
      claimLifetimeSeconds: 600,
    },
  };
  const quoting = {
    ...services,
    solver: SOLVER,
    random: { bytes32 },
    requests: storeQuotes(services, groupedQuoteInserts(sql)),
    recipientCodes: createCodeCache(services.chains, clock),
    sponsors: sponsorReads(sql),
    reservations: { reserved: () => 0n },
    timings: { estimateSeconds: () => 1 },
    signOrder: async (orderId: Hex): Promise<Hex> => orderId,
  };
  const apps = APP_WALLETS.map((fundingAddress, at) =>
    anApiKey({
      id: `00000000000000a${at}`,
      fundingAddress,
      // The first one fast fills before anybody has paid.
      rules: { ...defaultSponsorshipRules, maxCallValueUsd: 10n ** 20n, allowUnsubmitted: at === 0 },
    }),
  );
  const addressWork = addressServices(
    { ...services, depositAddresses: depositAddressReads(sql) },
    { reservations: quoting.reservations, recipientCodes: quoting.recipientCodes, random: { bytes32 } },
  );
  const addressWatches = new Map(
    chains.map(({ chain, connected }) => [chain.id, createAddressWatch(addressWork, connected)]),
  );
  const announce = async ({ memory, connected }: WorldChain): Promise<void> => {
    const head = await connected.connection.reader.head();
    (connected.connection.heads as ReturnType<typeof steppedHeads>).announce(head, clock.nowMs());
    await connected.pulse.refresh();
    if (head.hash !== memory.tip.hash) throw new Error("the head is the tip");
  };
  for (const { id, label, scopes, fundingAddress, rules } of apps)
    await pool.query(
      `insert into api_keys (id, label, secret_hash, scopes, referrers, origins, funding_address, rules, created_at_ms, updated_at_ms)
       values ($1, $2, decode($1, 'hex'), $3, '{}', '{}', $4, $5, 1, 1)`,
      [id, label, scopes, fundingAddress, JSON.stringify(rulesToJson(rules))],
    );
  for (const one of chains) {
    await announce(one);
    await openLane(services, one.connected);
    await loadTrail(services, one.connected);
  }

  let waiting: { readonly job: JobName; readonly payload: unknown }[] = [];
  const guarded = async (where: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      reportFault(where, error);
    }
  };
  const watch = async (one: WorldChain): Promise<void> => {
    const { connected } = one;
    await announce(one);
    const head = connected.connection.heads.latest;
    if (head === undefined) return;
    const before = await loadTrail(services, connected);
    const trail = await scanChain(services, connected, before, head);
    await trackLane(services, connected, trail);
    await trackSends(services, connected, trail);
    let last = await followReports(services, connected, trail, undefined);
    while (last !== undefined) last = await followReports(services, connected, trail, last);
    await recheckFinalBlocks(services, connected, trail);
    const cursor = await services.reads.cursor(one.chain.id);
    if (cursor !== undefined && world.quotes.some(({ terms }) => terms.depositAddress !== undefined))
      await addressWatches.get(one.chain.id)?.look(cursor.number);
  };
  const takeJobs = async (): Promise<readonly { readonly job: JobName; readonly payload: unknown }[]> => {
    const { rows } = await pool.query<{ job_name: JobName; payload: string }>(
      `with taken as (update outbox set published_at_ms = 1 where published_at_ms is null returning *)
       select job_name, payload from taken order by id`,
    );
    const jobs = [
      ...waiting,
      ...rows.map((row) => ({ job: row.job_name, payload: JSON.parse(row.payload) as unknown })),
    ];
    waiting = [];
    return jobs;
  };
  const world: SequenceWorld = {
    services,
    events,
    prices,
    pool,
    chains,
    solver: SOLVER,
    users: USERS,
    apps,
    quotes: [],
    faults,
    nowMs: clock.nowMs,
    forward: (ms) => {
      atMs += ms;
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
      const found = [chain.native, ...chain.tokens].find((one) => one.address === address);
      if (found === undefined) throw new Error(`no currency ${address}`);
      return found;
    },
    async quote(input, key) {
      const answer = await createQuote(quoting, input, key?.id, key);
      const requestId = answer.requestId as RequestId;
      const record = await services.reads.request(requestId);
      if (record === undefined) throw new Error("a quote is stored");
      const quoted: Quoted = { answer, requestId, terms: record.terms, input, keyId: key?.id };
      world.quotes.push(quoted);
      return quoted;
    },
    async act() {
      for (const one of chains) await guarded(`watching ${one.chain.name}`, async () => await watch(one));
      await guarded("reconciling", async () => await reconcileRequests(services));
      if (world.quotes.some(({ terms }) => terms.depositAddress !== undefined))
        await guarded("reconciling sweeps", async () => await reconcileSweeps(addressWork));
      await guarded("reconciling claims", async () => await reconcileClaims(services));
      for (const { job, payload } of await takeJobs())
        await guarded(`job ${job}`, async () => {
          const progress = await catalog[job].run(services, payload);
          if (progress.waitMs > 0) waiting.push({ job, payload });
        });
      for (const one of chains)
        await guarded(`care of ${one.chain.name}`, async () => await nudgeLane(services, one.connected));
    },
    async round(blocks = 1) {
      for (let block = 0; block < blocks; block++) {
        atMs += 2_000;
        for (const { memory } of chains) await memory.mine(Math.floor(atMs / 1000));
      }
      await world.act();
    },
    async loseJobs() {
      await takeJobs();
    },
    reportFault,
    close: () => {
      for (const { connected } of chains) connected.pulse.close();
    },
  };
  return world;
}

/** What apps have topped up before a sequence begins: one has plenty, one a little. */
export const APP_TOP_UPS: readonly bigint[] = [20_000n * 10n ** 6n, 700n * 10n ** 6n];

/** Calldata that marks a transfer to the solver as a top-up of the sender. */
export const TOP_UP_TAIL = `${TOP_UP_MARKER}${"00".repeat(20)}${TOP_UP_MARKER}`;
