import { rawKeySigner } from "@causeway/attest";
import type { PayingConnection } from "@causeway/chains";
import {
  defaultFeePolicy,
  inChargeOrder,
  NON_EVM_FAMILIES,
  orderIdOf,
  quotedState,
  type Currency,
  type Hex,
  type NonEvmChain,
  type NonEvmVmType,
  type Order,
  type RequestId,
  type RequestTerms,
} from "@causeway/domain";
import { encodeAddress, nativeCurrency } from "@causeway/families";
import { localAccount } from "@causeway/localnet";
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { createChainDirectory } from "../../apps/api/src/chains/directory.adapter.ts";
import { balanceReads } from "../../apps/api/src/balances/balance-reads.postgres.ts";
import { depositAddressReads } from "../../apps/api/src/deposits/addresses/deposit-address-reads.postgres.ts";
import { createPool, sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { postgresReads } from "../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import { runJob } from "./run-job.ts";
import type { TransferChain } from "../../apps/api/src/chains/chains.port.ts";
import type { MappedNonce } from "../../apps/api/src/chains/nonce-mappings.port.ts";
import type { DepositRecord, RequestRecord } from "../../apps/api/src/db/records.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import type { StatusView } from "../../apps/api/src/requests/status-view.port.ts";
import type { JobName } from "../../apps/api/src/db/job-name.port.ts";
import { measuredQuoteGas } from "../../apps/api/src/quotes/quote-gas.ts";
import { attributeLate } from "../../apps/api/src/deposits/non-evm/attribute-late.ts";
import { openNonEvmLane } from "../../apps/api/src/payments/non-evm/open-lane.ts";
import { readArrivals } from "../../apps/api/src/deposits/non-evm/read-arrivals.ts";
import { trackNonEvm } from "../../apps/api/src/payments/non-evm/track-payments.ts";
import { reconcileRequests } from "../../apps/api/src/reconcile/reconcile-requests.ts";
import { requestStatus } from "../../apps/api/src/requests/request-status.ts";
import { adjustableClock, type AdjustableClock } from "../fakes/adjustable-clock.ts";
import { adjustablePrices, type AdjustablePrices } from "../fakes/adjustable-prices.ts";
import { createFakeConnection } from "../fakes/fake-connection.ts";
import { FakeNonEvmChain, type FakeChainKind } from "../fakes/fake-non-evm-chain.ts";
import { noPools } from "../fakes/pair-liquidity.ts";
import { recordedEvents, type RecordedEvents } from "../fakes/recorded-events.ts";
import { createTestDatabase } from "./database.ts";
import { createPlanFaults } from "../../apps/api/src/payments/plan-faults.ts";
import { enginePolicy } from "./engine-policy.ts";

/** A fake chain, and the adapter with which the service uses it. */
export interface NonEvmTestChain {
  readonly chain: NonEvmChain;
  readonly network: FakeNonEvmChain;
  readonly connection: PayingConnection;
}

export interface NonEvmRequest {
  readonly requestId: RequestId;
  readonly terms: RequestTerms;
}

/**
 * Deposits, fills and refunds between two fake non-EVM chains. The test advances them step by step. A
 * method's `processServices` are those of the process that acts; default: the world's own services.
 */
export interface NonEvmWorld {
  readonly services: WorkerServices;
  readonly clock: AdjustableClock;
  readonly prices: AdjustablePrices;
  readonly events: RecordedEvents;
  readonly pool: pg.Pool;
  readonly databaseUrl: string;
  readonly origin: NonEvmTestChain;
  readonly destination: NonEvmTestChain;
  /** Sets the mapping of a wallet's nonce on the origin chain. */
  setNonceMapping(wallet: Hex, nonce: bigint, mapped: Omit<MappedNonce, "setAt">): void;
  /** Stores a request that pays 95,000 units for a deposit of 100,000. */
  storeRequest(change?: Partial<RequestTerms>): Promise<NonEvmRequest>;
  /** Makes the user's deposit, which is pending until the next block. Returns its id. */
  pay(request: NonEvmRequest, change?: Partial<Parameters<FakeNonEvmChain["deposit"]>[0]>): Hex;
  /** Does what a watcher of the process does when its chain changes. */
  watch(testChain: NonEvmTestChain, processServices?: WorkerServices): Promise<void>;
  /** Runs every job that was queued since the last call, once. */
  work(processServices?: WorkerServices): Promise<void>;
  /** Tracks the pending payments on a chain. */
  track(testChain: NonEvmTestChain, processServices?: WorkerServices): Promise<void>;
  /** Runs one round: a block on both chains, watchers, reconciling, jobs and payments. */
  round(processServices?: WorkerServices): Promise<void>;
  /**
   * Runs rounds until the request is final.
   * @throws after 60 rounds
   */
  untilFinal(requestId: RequestId, stepMs?: number): Promise<StatusView>;
  status(requestId: RequestId): Promise<StatusView>;
  request(requestId: RequestId): Promise<RequestRecord>;
  depositsAt(txHash: Hex): Promise<readonly DepositRecord[]>;
  /** The ids of the payments with the order's id in canonical blocks. */
  paymentsOf(request: NonEvmRequest, end: NonEvmTestChain): readonly Hex[];
  stop(): Promise<void>;
}

/** A new account on a chain of the kind `expiring`. */
export const anAccount = (): Hex => `0x${randomBytes(32).toString("hex")}`;
const VM_OF: Readonly<Record<FakeChainKind, NonEvmVmType>> = { expiring: "svm", outputs: "bvm" };

/** The name of the solver's chain, which belongs to the family of the hub. */
export const SOLVER_CHAIN = "home";

export interface NonEvmWorldOptions {
  readonly origin?: FakeChainKind;
  readonly destination?: FakeChainKind;
  /** The solver's initial native tokens on each chain, in base units. */
  readonly opening?: bigint;
}

export async function startNonEvmWorld(options: NonEvmWorldOptions = {}): Promise<NonEvmWorld> {
  const { opening = 80_000_000n } = options;
  const clock = adjustableClock();
  const prices = adjustablePrices({ native: "1" });
  const events = recordedEvents();
  const testChains = [options.origin ?? "expiring", options.destination ?? "expiring"].map(
    (kind, at): NonEvmTestChain => {
      const native = encodeAddress(
        NON_EVM_FAMILIES[VM_OF[kind]],
        nativeCurrency(NON_EVM_FAMILIES[VM_OF[kind]]),
      );
      const network = new FakeNonEvmChain(kind, native, new Map([[native, opening]]), () => clock.nowMs());
      network.mineUntilFinal();
      const chain = nonEvmProfile(7_001 + at, ["alpha", "beta"][at] ?? "", VM_OF[kind], native);
      const connection = createFakeConnection(network, {
        vm: chain.family,
        solver: accountOn(kind),
        now: () => clock.nowMs(),
      });
      return { chain, network, connection };
    },
  );
  const [origin, destination] = testChains;
  if (origin === undefined || destination === undefined) throw new Error("expected two chains");
  const connectedChains = testChains.map(({ chain, network, connection }): TransferChain => {
    const pulse = {
      solverBalance: (currency: Hex) => ({ amount: network.balance(currency) }),
      paymentCost: () => network.cost,
      isLagging: () => network.isDown,
      headAgeMs: () => 0,
    };
    return { chain, connection, pulse };
  });
  const mappedNonces = new Map<string, MappedNonce>();
  const database = await createTestDatabase();
  const pool = createPool(database.url, { max: 8, statementTimeoutMs: 10_000, applicationName: "test" });
  const sql = sqlOn(pool);
  const services: WorkerServices = {
    clock,
    prices,
    events,
    signer: rawKeySigner(localAccount("solver").privateKey),
    formerSigners: [],
    executor: undefined,
    depositAddressOperator: undefined,
    chains: createChainDirectory([], connectedChains),
    ...noPools,
    uow: postgresUnitOfWork(pool, events),
    reads: postgresReads(sql),
    balances: balanceReads(sql),
    depositAddresses: depositAddressReads(sql),
    nonceMappings: {
      find: async (chainId, wallet, nonce) => mappedNonces.get(`${chainId}:${wallet}:${nonce}`),
      read: async (chainId, wallet, nonce) => ({
        mapped: mappedNonces.get(`${chainId}:${wallet}:${nonce}`),
        asOf: BigInt(Math.floor(clock.nowMs() / 1000)),
      }),
    },
    quotePolicy: {
      ...defaultFeePolicy,
      gas: measuredQuoteGas,
      maxTtlSeconds: 3600,
      solverChainName: SOLVER_CHAIN,
    },
    enginePolicy: { ...enginePolicy, maxAttempts: 6 },
    planFaults: createPlanFaults(),
    appBalance: {
      chainId: origin.chain.id,
      currencies: inChargeOrder([origin.chain.native], "native"),
      confirmations: 1,
      minTopUpUsd: 0n,
      claimLifetimeSeconds: 600,
    },
  };
  for (const transferChain of connectedChains) await openNonEvmLane(services, transferChain);
  const connectionOf = (processServices: WorkerServices, { chain }: NonEvmTestChain): TransferChain => {
    const found = processServices.chains.nonEvm(chain.id);
    if (found === undefined) throw new Error("both chains are in the directory");
    return found;
  };
  let unfinishedJobs: { job: JobName; payload: unknown }[] = [];

  const world: NonEvmWorld = {
    services,
    clock,
    prices,
    events,
    pool,
    databaseUrl: database.url,
    origin,
    destination,
    setNonceMapping(wallet, nonce, mapped) {
      const setAt = BigInt(Math.floor(clock.nowMs() / 1000));
      mappedNonces.set(`${origin.chain.id}:${wallet}:${nonce}`, { ...mapped, setAt });
    },
    async storeRequest(change = {}) {
      const terms = someNonEvmTerms(world, change);
      await services.uow.run((tx) => tx.requests.insert(terms, quotedState("bridge")));
      return { requestId: terms.requestId, terms };
    },
    pay({ terms }, change = {}) {
      const { currency, amount } = terms.origin;
      return origin.network.deposit({ from: terms.user, currency, amount, id: terms.orderId, ...change });
    },
    async watch(testChain, processServices = services) {
      const connectedChain = connectionOf(processServices, testChain);
      await readArrivals(
        processServices,
        connectedChain,
        await processServices.reads.nonEvmCursor(testChain.chain.id),
      );
      await attributeLate(processServices, connectedChain);
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
    track: async (testChain, processServices = services) =>
      await trackNonEvm(processServices, connectionOf(processServices, testChain)),
    async round(processServices = services) {
      for (const testChain of testChains) {
        testChain.network.mine();
        await world.watch(testChain, processServices);
      }
      await reconcileRequests(processServices);
      await world.work(processServices);
      for (const testChain of testChains) await world.track(testChain, processServices);
    },
    async untilFinal(requestId, stepMs = 6_000) {
      for (let round = 0; round < 60; round++) {
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
    async request(requestId) {
      const record = await services.reads.request(requestId);
      if (record === undefined) throw new Error(`no request ${requestId}`);
      return record;
    },
    async depositsAt(txHash) {
      const { rows } = await pool.query<{ id: number }>(
        "select id from deposits where tx_hash = $1 order by id",
        [txHash],
      );
      const deposits = await Promise.all(
        rows.map(async ({ id }) => await services.reads.deposit(String(id))),
      );
      return deposits.filter((deposit) => deposit !== undefined);
    },
    paymentsOf: ({ terms }, { network }) =>
      network.payments().flatMap(({ id, payment }) => (payment.id === terms.orderId ? [id] : [])),
    async stop() {
      await pool.end();
      await database.drop();
    },
  };
  return world;
}

/** Bitcoin, as a fake chain in addition to the EVM chains of a world. */
export interface AddedBitcoin {
  readonly end: TransferChain;
  readonly network: FakeNonEvmChain;
  /** Does what a watcher does when its chain changes. */
  watch(): Promise<void>;
}

/** Adds Bitcoin to the chains of an engine. The solver pays from an account there. */
export async function addBitcoin(
  services: WorkerServices,
  clock: Pick<AdjustableClock, "nowMs">,
): Promise<AddedBitcoin> {
  const native = encodeAddress("bitcoin-vm", nativeCurrency("bitcoin-vm"));
  const network = new FakeNonEvmChain("outputs", native, new Map([[native, 10n ** 9n]]), () => clock.nowMs());
  network.mineUntilFinal();
  const profile = nonEvmProfile(8_001, "bitcoin", "bvm", native);
  const btc: Currency = {
    ...profile.native,
    id: "btc",
    symbol: "BTC",
    decimals: 8,
    class: "major",
    priceId: "bitcoin",
  };
  const connected: TransferChain = {
    chain: { ...profile, native: btc },
    connection: createFakeConnection(network, {
      vm: profile.family,
      solver: accountOn("outputs"),
      now: () => clock.nowMs(),
    }),
    pulse: {
      solverBalance: (currency: Hex) => ({ amount: network.balance(currency) }),
      paymentCost: () => network.cost,
      isLagging: () => network.isDown,
      headAgeMs: () => 0,
    },
    users: {
      balance: async () => 0n,
      deposit: async ({ amount, orderId }) => ({
        data: { payment: { address: "", amount: `${amount}`, opReturn: orderId, opReturnHex: "0x" } },
        fee: 0n,
      }),
    },
  };
  Object.assign(services, { chains: createChainDirectory(services.chains.evmChains, [connected]) });
  await openNonEvmLane(services, connected);
  return {
    end: connected,
    network,
    async watch() {
      await readArrivals(services, connected, await services.reads.nonEvmCursor(connected.chain.id));
      await trackNonEvm(services, connected);
    },
  };
}

/** A new account, with the length of accounts on this kind of chain. */
function accountOn(kind: FakeChainKind): Hex {
  return kind === "expiring" ? anAccount() : `0x00${randomBytes(20).toString("hex")}`;
}

export function nonEvmProfile(id: number, name: string, vmType: NonEvmVmType, native: Hex): NonEvmChain {
  const nativeToken: Currency = {
    chainId: id,
    address: native,
    id: "native",
    symbol: "COIN",
    name: "Coin",
    decimals: 0,
    class: "stable",
    priceId: "native",
    supportsBridging: true,
    supportsPermit: false,
    resetsApproval: false,
    logoUri: undefined,
    verified: true,
    maxFillAmount: undefined,
  };
  return {
    id,
    name,
    displayName: name,
    vmType,
    family: NON_EVM_FAMILIES[vmType],
    depository: accountOn(vmType === "svm" ? "expiring" : "outputs"),
    confirmations: 3,
    confirmationTiers: [{ belowUsd: undefined, confirmations: 1 }],
    keepsUnattributed: true,
    ...(vmType === "bvm" && { paysFromAnyAddress: true }),
    ...(vmType === "hypevm" && { needsNonceMappings: true }),
    rpcUrl: "http://127.0.0.1:1",
    publicRpcUrl: "http://127.0.0.1:1",
    publicWsRpcUrl: undefined,
    explorerUrl: "",
    explorerName: "",
    iconUrl: "",
    baseChainId: undefined,
    tags: [],
    depositEnabled: true,
    disabled: false,
    partialDisableLimit: 0n,
    surgeEnabled: false,
    native: nativeToken,
    tokens: [],
    blockTimeSeconds: 2,
    fees: { flatUsd: 0n, depositBps: 0, withdrawalBps: 0, gasMarginBps: 0 },
  };
}

function someNonEvmTerms(
  { origin, destination, clock }: Pick<NonEvmWorld, "origin" | "destination" | "clock">,
  change: Partial<RequestTerms>,
): RequestTerms {
  const user = change.user ?? accountOn(origin.network.kind);
  const refundTo = change.refundTo ?? accountOn(origin.network.kind);
  const recipient = change.recipient ?? accountOn(destination.network.kind);
  const createdAtMs = clock.nowMs();
  const fillDeadlineMs = change.fillDeadlineMs ?? createdAtMs + 3_600_000;
  const deadline = Math.floor(fillDeadlineMs / 1000);
  const order: Order = {
    version: "v1",
    solverChainId: SOLVER_CHAIN,
    // The solver is an account on the hub, whatever the chains of the order.
    solver: localAccount("solver").address.toLowerCase() as Hex,
    salt: anAccount(),
    inputs: [
      {
        payment: {
          chainId: origin.chain.name,
          currency: origin.network.native,
          amount: 100_000n,
          weight: 1n,
        },
        refunds: [
          {
            chainId: origin.chain.name,
            recipient: refundTo,
            currency: origin.network.native,
            minimumAmount: 0n,
            deadline: deadline + 86_400,
            extraData: "0x",
          },
        ],
      },
    ],
    output: {
      chainId: destination.chain.name,
      payments: [
        { recipient, currency: destination.network.native, minimumAmount: 94_000n, expectedAmount: 95_000n },
      ],
      calls: [],
      deadline,
      extraData: "0x",
    },
    fees: [],
  };
  return {
    requestId: anAccount(),
    orderId: orderIdOf(order),
    kind: "bridge",
    tradeType: "EXACT_INPUT",
    user,
    recipient,
    refundTo,
    origin: { chainId: origin.chain.id, currency: origin.network.native, amount: 100_000n },
    destination: {
      chainId: destination.chain.id,
      currency: destination.network.native,
      expectedAmount: 95_000n,
      minimumAmount: 94_000n,
    },
    inputUsd: 100_000n * 10n ** 18n,
    explicitDeposit: true,
    createdAtMs,
    firmUntilMs: createdAtMs + 60_000,
    fillDeadlineMs,
    referrer: undefined,
    forceRefund: false,
    order,
    ...change,
  };
}
