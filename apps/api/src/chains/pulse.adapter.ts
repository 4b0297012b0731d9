import type { ChainConnection, EffectsView, GasPrices } from "@causeway/chains";
import type { Address, Chain } from "@causeway/domain";
import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import type { ChainPulse } from "./chains.port.ts";
import type { Clock } from "../db/clock.port.ts";

export interface ChainPulseOptions {
  readonly chain: Chain;
  readonly connection: Pick<ChainConnection, "reader" | "heads">;
  /** System clock, which stamps heads. */
  readonly clock: Clock;
  readonly monotonic: Clock;
  readonly solver: Address;
  /** Accounts of ours that send transactions and hold nothing but the native token for their gas. */
  readonly gasPayers: readonly Address[];
  /** Facts read longer ago are not used, ms. */
  readonly maxAgeMs: number;
  /**
   * While no head comes the facts are read again this often, ms: the solver may have been funded, gas
   * repriced.
   */
  readonly quietRefreshMs: number;
  /** Median time of the newest calls to the node, ms. */
  readonly latencyMs?: () => number | undefined;
  /** Finds out whether the node can say what a call would do. */
  readonly readEffectsView?: () => Promise<EffectsView>;
  /** Told of every answer to that which differs from the one before. */
  readonly onEffectsView?: (view: EffectsView) => void;
  /**
   * Told of every failed reading that nobody waits for; the facts read before serve until they are too old.
   */
  readonly onFault: (error: unknown) => void;
}

/** A pulse that reads by itself until it is closed. */
export interface OwnedChainPulse extends ChainPulse {
  /** Reads now, or joins the reading under way. @throws RpcFault */
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

/** Silence for so many block times is late, but never less than half a minute of it. */
const LATE_BLOCK_TIMES = 10;
const LATE_LEAST_MS = 30_000;
/**
 * How often tracing support is probed. Until then, fills that need traces are still quoted, and refunded if
 * tracing does not return.
 */
const EFFECTS_EVERY_MS = 60_000;

/**
 * Keeps the newest facts of a chain: on each head (and on a clock while there are none) gas prices and what
 * the solver holds of every configured currency are read together, as one batch. At most one reading runs;
 * heads that come meanwhile cause exactly one more.
 */
export function createChainPulse(options: ChainPulseOptions): OwnedChainPulse {
  const { chain, connection, clock, monotonic, solver, gasPayers, maxAgeMs, quietRefreshMs, onFault } =
    options;
  const { reader, heads } = connection;
  const currencies = [chain.native, ...chain.tokens].map(({ address }) => address);
  const lateMs = Math.max(chain.blockTimeSeconds * 1000 * LATE_BLOCK_TIMES, LATE_LEAST_MS);
  const startedAtMs = clock.nowMs();
  let facts: Facts | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let closed = false;
  let effectsView: EffectsView | undefined;
  let probedAtMs = -Infinity;
  let probing: Promise<void> | undefined;

  /** Probes tracing support when it is due; a node that does not answer the probe holds nothing else up. */
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
        if (!closed) onFault(error);
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
    // At start it is waited for, so that the first quotes are right about fills that need traces.
    if (isFirstProbe) await probing;
  }

  function refresh(): Promise<void> {
    running ??= read().finally(() => {
      running = undefined;
      if (!again) return;
      again = false;
      refreshAside();
    });
    return running;
  }

  /** Nobody waits for it: the facts read before serve until they are too old. */
  function refreshAside(): void {
    if (closed) return;
    refresh().catch((error: unknown) => {
      if (!closed) onFault(error);
    });
  }

  const unsubscribe = heads.onHead(() => {
    // The reading under way may have begun before this block.
    if (running === undefined) refreshAside();
    else again = true;
  });
  const timer = setInterval(() => {
    if (running === undefined && monotonic.nowMs() - (facts?.readAtMs ?? -Infinity) >= quietRefreshMs)
      refreshAside();
  }, quietRefreshMs);
  // Reading facts must not keep a process alive that has nothing else to do.
  timer.unref();

  function fresh(): Facts {
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
    gasPrices: () => fresh().gasPrices,
    solverBalance: (currency) => {
      const { balances, blockNumber } = fresh();
      const amount = balances.get(currency);
      if (amount === undefined)
        throw new RangeError(`currency ${currency} is not configured on ${chain.name}`);
      return { amount, blockNumber };
    },
    gasBalance: (account) => {
      const has = fresh().gasBalances.get(account);
      if (has === undefined)
        throw new RangeError(`invariant violated: balance of ${account} on ${chain.name} is not tracked`);
      return has;
    },
    lagging: () => headAgeMs() > lateMs,
    headAgeMs,
    effectsView: () => effectsView,
    latencyMs: () => options.latencyMs?.(),
    refresh,
    close: () => {
      closed = true;
      unsubscribe();
      clearInterval(timer);
    },
  };
}
