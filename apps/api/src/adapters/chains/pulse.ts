import type { ChainConnection, GasPrices } from "@causeway/chains";
import type { Address, Chain } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { ChainPulse } from "../../ports/chains.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Events } from "../../ports/events.ts";

/** A pulse that reads by itself until it is closed. */
export interface OwnedPulse extends ChainPulse {
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

/** Silence for so many block times is late, and facts that old are not used; but never before half a minute of it. */
const LATE_BLOCK_TIMES = 10;
const LATE_LEAST_MS = 30_000;
/** A chain without new blocks is read once per block time all the same, though not more often than this: the solver may have been funded, gas repriced. */
const QUIET_LEAST_MS = 1_000;

/**
 * Keeps the newest facts of a chain: on each head (and on a clock while there are none) gas prices and what the solver holds of every configured
 * currency are read together, as one batch. At most one reading runs; heads that come meanwhile cause exactly one more.
 * A failed reading is an event; the facts read before serve until they are too old.
 */
export function createPulse(
  chain: Chain,
  { reader, heads }: Pick<ChainConnection, "reader" | "heads">,
  solver: Address,
  { clock, events }: { readonly clock: Clock; readonly events: Pick<Events, "fault"> },
): OwnedPulse {
  const currencies = [chain.native, ...chain.tokens].map(({ address }) => address);
  const blockTimeMs = chain.blockTimeSeconds * 1000;
  const lateMs = Math.max(blockTimeMs * LATE_BLOCK_TIMES, LATE_LEAST_MS);
  const quietMs = Math.max(blockTimeMs, QUIET_LEAST_MS);
  const startedAtMs = clock.nowMs();
  let facts: Facts | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let closed = false;

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
      if (!closed) events.fault("chain_fault", error, { chain: chain.name, part: "pulse" });
    });
  }

  const unsubscribe = heads.onHead(() => {
    // The reading under way may have begun before this block.
    if (running === undefined) refreshAside();
    else again = true;
  });
  const timer = setInterval(() => {
    if (running === undefined && clock.nowMs() - (facts?.readAtMs ?? 0) >= quietMs) refreshAside();
  }, quietMs);
  // Reading facts must not keep a process alive that has nothing else to do.
  timer.unref();

  function fresh(): Facts {
    if (facts !== undefined && clock.nowMs() - facts.readAtMs <= lateMs) return facts;
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
      if (amount === undefined)
        throw new RangeError(`${currency} is no configured currency of ${chain.name}`);
      return { amount, blockNumber };
    },
    lagging: () => clock.nowMs() - (heads.latest?.seenAtMs ?? startedAtMs) > lateMs,
    refresh,
    close: () => {
      closed = true;
      unsubscribe();
      clearInterval(timer);
    },
  };
}
