import type { ChainConnection, GasPrices } from "@causeway/chains";
import type { Address, Chain } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { ChainPulse } from "../../ports/chains.ts";
import type { Clock } from "../../ports/clock.ts";

export interface ChainPulseOptions {
  readonly chain: Chain;
  readonly connection: Pick<ChainConnection, "reader" | "heads">;
  readonly clock: Clock;
  readonly solver: Address;
  /** Facts older than this are not used, ms. */
  readonly maxAgeMs: number;
  /** On a chain without new blocks the facts are read again this often, ms. */
  readonly quietRefreshMs: number;
  /** Told of every failed reading; the facts read before serve until they are too old. */
  readonly onFault: (error: unknown) => void;
}

/** A pulse that reads on its own until it is closed. */
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
}

/** A chain that usually makes a block in so many times less is late; but never before half a minute of silence. */
const LAGGING_BLOCK_TIMES = 10;
const LAGGING_LEAST_MS = 30_000;

/**
 * Keeps the newest facts of a chain: on each head (and on a clock while there are none) gas prices and the solver's balances are read
 * together, as one batch. At most one reading runs; heads that come meanwhile cause exactly one more.
 */
export function createChainPulse(options: ChainPulseOptions): OwnedChainPulse {
  const { chain, connection, clock, solver, maxAgeMs, onFault } = options;
  const { reader, heads } = connection;
  const currencies = [chain.native, ...chain.tokens].map(({ address }) => address);
  const laggingMs = Math.max(chain.blockTimeSeconds * 1000 * LAGGING_BLOCK_TIMES, LAGGING_LEAST_MS);
  const startedAtMs = clock.nowMs();
  let facts: Facts | undefined;
  let running: Promise<void> | undefined;
  let again = false;

  async function read(): Promise<void> {
    const [gasPrices, { blockNumber, balances }] = await Promise.all([
      reader.gasPrices(),
      reader.balances(solver, currencies),
    ]);
    facts = { readAtMs: clock.nowMs(), gasPrices, balances, blockNumber };
  }

  function refresh(): Promise<void> {
    running ??= read().finally(() => {
      running = undefined;
      if (again) {
        again = false;
        refresh().catch(onFault);
      }
    });
    return running;
  }

  function onHead(): void {
    // The running reading may have begun before this block.
    if (running !== undefined) again = true;
    else refresh().catch(onFault);
  }

  const unsubscribe = heads.onHead(onHead);
  const timer = setInterval(() => {
    const readAtMs = facts?.readAtMs ?? 0;
    if (running === undefined && clock.nowMs() - readAtMs >= options.quietRefreshMs) refresh().catch(onFault);
  }, options.quietRefreshMs);
  // Reading facts must not keep a process alive that has nothing else to do.
  timer.unref();

  function fresh(): Facts {
    if (facts !== undefined && clock.nowMs() - facts.readAtMs <= maxAgeMs) return facts;
    throw new ServiceError("RPC_HTTP_ERROR", `Nothing fresh is known of ${chain.displayName}`, {
      data: { chainId: chain.id },
    });
  }

  return {
    head: () => heads.latest,
    gasPrices: () => fresh().gasPrices,
    solverBalance: (currency) => {
      const { balances, blockNumber } = fresh();
      const amount = balances.get(currency);
      if (amount !== undefined) return { amount, blockNumber };
      throw new RangeError(`${currency} is no configured currency of ${chain.name}`);
    },
    lagging: () => clock.nowMs() - (heads.latest?.seenAtMs ?? startedAtMs) > laggingMs,
    refresh,
    close: () => {
      unsubscribe();
      clearInterval(timer);
      again = false;
    },
  };
}
