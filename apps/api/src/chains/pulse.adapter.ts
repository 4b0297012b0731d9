import type { ChainConnection, EffectsView, EndpointStatus, GasPrices } from "@causeway/chains";
import type { Address, Chain } from "@causeway/domain";
import { gasCostWei, NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import type { ChainPulse } from "./chains.port.ts";
import type { Clock } from "../db/clock.port.ts";

export interface ChainPulseOptions {
  readonly chain: Chain;
  readonly connection: Pick<ChainConnection, "reader" | "heads">;
  /** System clock, which stamps heads. */
  readonly clock: Clock;
  readonly monotonic: Clock;
  readonly solver: Address;
  /** The service's accounts that send transactions and hold only native tokens for gas. */
  readonly gasPayers: readonly Address[];
  /** Facts read longer ago are not used, ms. */
  readonly maxAgeMs: number;
  /** Interval of reads without new heads, ms: the solver may have been funded or gas repriced. */
  readonly quietRefreshMs: number;
  /** Pause between a head and its read, ms. Default: none. */
  readonly afterHeadMs?: number;
  /** Median time of the newest calls to the node, ms. */
  readonly latencyMs?: () => number | undefined;
  /** The endpoints of the chain. */
  readonly endpoints?: () => readonly EndpointStatus[];
  /** Probes whether the node can report the effects of a call. */
  readonly readEffectsView?: () => Promise<EffectsView>;
  /** Receives each changed result of the probe. */
  readonly onEffectsView?: (view: EffectsView) => void;
  /** Receives each failed background read; earlier facts serve until they are too old. */
  readonly onFault: (error: unknown) => void;
}

/** A pulse that refreshes itself until it is closed. */
export interface OwnedChainPulse extends ChainPulse {
  /** Reads now, or joins the running read. @throws RpcFault */
  refresh(): Promise<void>;
  close(): void;
}

interface Facts {
  readonly readAtMs: number;
  readonly gasPrices: GasPrices;
  readonly balances: ReadonlyMap<Address, bigint>;
  readonly blockNumber: bigint;
  readonly gasBalances: ReadonlyMap<Address, ReturnType<ChainPulse["gasBalance"]>>;
}

/** A chain is late after this many block times without a block, but at least half a minute. */
const LATE_BLOCK_TIMES = 10;
const MIN_LATE_MS = 30_000;
/**
 * How often tracing support is probed. If tracing fails in between, fills that need traces are still quoted,
 * and refunded if tracing does not recover.
 */
const EFFECTS_EVERY_MS = 60_000;

/**
 * Keeps the newest facts of a chain: each head, after a pause, or a timer without heads causes one batch with
 * gas prices and the solver's balance of every configured currency. At most one read runs; heads meanwhile
 * cause exactly one more.
 */
export function createChainPulse(options: ChainPulseOptions): OwnedChainPulse {
  const { chain, connection, clock, monotonic, solver, gasPayers, maxAgeMs, quietRefreshMs, onFault } =
    options;
  const { afterHeadMs = 0 } = options;
  const { reader, heads } = connection;
  const currencies = [chain.native, ...chain.tokens].map(({ address }) => address);
  const lateMs = Math.max(chain.blockTimeSeconds * 1000 * LATE_BLOCK_TIMES, MIN_LATE_MS);
  const startedAtMs = clock.nowMs();
  let facts: Facts | undefined;
  let currentRead: Promise<void> | undefined;
  let shouldReadAgain = false;
  let isClosed = false;
  let effectsView: EffectsView | undefined;
  let probedAtMs = -Infinity;
  let probing: Promise<void> | undefined;

  /** Probes tracing support when it is due; a slow probe delays nothing else. */
  function probeEffects(): void {
    const { readEffectsView } = options;
    if (readEffectsView === undefined || probing !== undefined) return;
    if (monotonic.nowMs() - probedAtMs < EFFECTS_EVERY_MS) return;
    const probe = async (): Promise<void> => {
      try {
        const view = await readEffectsView();
        if (view !== effectsView) options.onEffectsView?.(view);
        effectsView = view;
      } catch (error) {
        if (!isClosed) onFault(error);
      } finally {
        probedAtMs = monotonic.nowMs();
        probing = undefined;
      }
    };
    probing = probe();
  }

  async function nativeOf(account: Address): Promise<ReturnType<ChainPulse["gasBalance"]>> {
    const { balances, blockNumber } = await reader.balances(account, [NATIVE_CURRENCY]);
    return { amount: balances.get(NATIVE_CURRENCY) ?? 0n, blockNumber };
  }

  async function read(): Promise<void> {
    const [gasPrices, { blockNumber, balances }, gasBalances] = await Promise.all([
      reader.gasPrices(),
      reader.balances(solver, currencies),
      Promise.all(gasPayers.map(async (account) => [account, await nativeOf(account)] as const)),
    ]);
    facts = {
      readAtMs: monotonic.nowMs(),
      gasPrices,
      balances,
      blockNumber,
      gasBalances: new Map(gasBalances),
    };
    const isFirstProbe = probedAtMs === -Infinity;
    probeEffects();
    // At startup the probe is awaited, so that the first quotes are right about fills that need traces.
    if (isFirstProbe) await probing;
  }

  function refresh(): Promise<void> {
    currentRead ??= read().finally(() => {
      currentRead = undefined;
      if (!shouldReadAgain) return;
      shouldReadAgain = false;
      refreshInBackground();
    });
    return currentRead;
  }

  /** In the background: earlier facts serve until they are too old. */
  function refreshInBackground(): void {
    if (isClosed) return;
    refresh().catch((error: unknown) => {
      if (!isClosed) onFault(error);
    });
  }

  let headTimer: NodeJS.Timeout | undefined;
  function readHead(): void {
    headTimer = undefined;
    // The running read may have started before this block.
    if (currentRead === undefined) refreshInBackground();
    else shouldReadAgain = true;
  }

  const unsubscribe = heads.onHead(() => {
    if (afterHeadMs === 0) readHead();
    else headTimer ??= setTimeout(readHead, afterHeadMs).unref();
  });
  const timer = setInterval(() => {
    if (currentRead === undefined && monotonic.nowMs() - (facts?.readAtMs ?? -Infinity) >= quietRefreshMs)
      refreshInBackground();
  }, quietRefreshMs);
  // The refresh timer alone must not keep the process alive.
  timer.unref();

  function freshFacts(): Facts {
    if (facts !== undefined && monotonic.nowMs() - facts.readAtMs <= maxAgeMs) return facts;
    throw new ServiceError(
      "RPC_HTTP_ERROR",
      `No fresh state of ${chain.displayName} is available; try again`,
      {
        data: { chainId: chain.id },
      },
    );
  }

  const headAgeMs = (): number => Math.max(0, clock.nowMs() - (heads.latest?.seenAtMs ?? startedAtMs));

  return {
    head: () => heads.latest,
    gasPrices: () => freshFacts().gasPrices,
    paymentCost: (_currency, gas) => gasCostWei(gas, freshFacts().gasPrices, chain.fees.minPriorityFeeWei, 0),
    solverBalance: (currency) => {
      const { balances, blockNumber } = freshFacts();
      const amount = balances.get(currency);
      if (amount === undefined)
        throw new RangeError(`currency ${currency} is not configured on ${chain.name}`);
      return { amount, blockNumber };
    },
    gasBalance: (account) => {
      const balance = freshFacts().gasBalances.get(account);
      if (balance === undefined)
        throw new RangeError(`invariant violated: balance of ${account} on ${chain.name} is not tracked`);
      return balance;
    },
    isLagging: () => headAgeMs() > lateMs,
    headAgeMs,
    effectsView: () => effectsView,
    latencyMs: () => options.latencyMs?.(),
    endpoints: () => options.endpoints?.() ?? [],
    refresh,
    close: () => {
      isClosed = true;
      unsubscribe();
      clearTimeout(headTimer);
      clearInterval(timer);
    },
  };
}
