import type { NonEvmConnection } from "@causeway/chains";
import type { Address, NonEvmChain } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { NonEvmPulse } from "./chains.port.ts";
import type { Clock } from "../db/clock.port.ts";

export interface NonEvmPulseOptions {
  readonly chain: NonEvmChain;
  readonly connection: Pick<NonEvmConnection, "balances" | "paymentCost" | "onNews" | "head" | "endpoints">;
  readonly monotonic: Clock;
  /** Facts read longer ago are not used, ms. */
  readonly maxAgeMs: number;
  /** Interval of reads while the chain is silent, ms. */
  readonly refreshMs: number;
  /** Changes within this time share one read, ms. */
  readonly minPauseMs: number;
  /** Receives each failed read; earlier facts serve until they are too old. */
  readonly onFault: (error: unknown) => void;
}

/** A pulse that refreshes itself until it is closed. */
export interface OwnedNonEvmPulse extends NonEvmPulse {
  /** Reads now, or joins the running read. @throws RpcFault */
  refresh(): Promise<void>;
  close(): void;
}

interface Facts {
  readonly readAtMs: number;
  readonly balances: ReadonlyMap<Address, bigint>;
  readonly costs: ReadonlyMap<Address, bigint>;
}

/** A chain is late after this many block times without a new head or a read, but at least a minute. */
const LATE_BLOCK_TIMES = 10;
const MIN_LATE_MS = 60_000;

/**
 * Keeps the newest facts of a non-EVM chain: when the chain changes, and otherwise on a timer, reads the
 * solver's balance and the payment cost of every configured currency. A read counts only if complete; at most
 * one runs.
 */
export function createNonEvmPulse(options: NonEvmPulseOptions): OwnedNonEvmPulse {
  const { chain, connection, monotonic, maxAgeMs, refreshMs, minPauseMs, onFault } = options;
  const currencies = [chain.native, ...chain.tokens].map(({ address }) => address);
  const lateMs = Math.max(chain.blockTimeSeconds * 1000 * LATE_BLOCK_TIMES, MIN_LATE_MS);
  const startedAtMs = monotonic.nowMs();
  let facts: Facts | undefined;
  /** The furthest head, and when it was first read. */
  let furthest: { readonly position: bigint; readonly seenAtMs: number } | undefined;
  let currentRead: Promise<void> | undefined;
  let isClosed = false;

  async function read(): Promise<void> {
    // Dated to the start of the read: later payments may be missing from the result.
    const readAtMs = monotonic.nowMs();
    const [head, balances, ...costs] = await Promise.all([
      connection.head?.(),
      connection.balances(currencies),
      ...currencies.map((currency) => connection.paymentCost(currency, undefined)),
    ]);
    if (head !== undefined && (furthest === undefined || head.position > furthest.position))
      furthest = { position: head.position, seenAtMs: readAtMs };
    facts = {
      readAtMs,
      balances,
      costs: new Map(currencies.map((currency, index) => [currency, costs[index] ?? 0n])),
    };
  }

  function refresh(): Promise<void> {
    currentRead ??= read().finally(() => {
      currentRead = undefined;
    });
    return currentRead;
  }

  /** Refreshes in the background unless the facts are younger than `youngMs`. */
  function refreshInBackground(youngMs: number): void {
    if (isClosed || currentRead !== undefined || monotonic.nowMs() - (facts?.readAtMs ?? -Infinity) < youngMs)
      return;
    refresh().catch((error: unknown) => {
      if (!isClosed) onFault(error);
    });
  }

  const unsubscribe = connection.onNews(() => refreshInBackground(minPauseMs));
  const timer = setInterval(
    () => refreshInBackground(refreshMs),
    Math.max(1, Math.min(refreshMs, minPauseMs)),
  );
  // The refresh timer alone must not keep the process alive.
  timer.unref();

  function freshValue(kind: "balances" | "costs", currency: Address): bigint {
    if (facts === undefined || monotonic.nowMs() - facts.readAtMs > maxAgeMs)
      throw new ServiceError(
        "RPC_HTTP_ERROR",
        `No fresh state of ${chain.displayName} is available; try again`,
        {
          data: { chainId: chain.id },
        },
      );
    const value = facts[kind].get(currency);
    if (value === undefined) throw new RangeError(`currency ${currency} is not configured on ${chain.name}`);
    return value;
  }

  // A slow chain without a new block is healthy until the block is late.
  const headAgeMs = (): number => {
    const sinceReadMs = monotonic.nowMs() - (facts?.readAtMs ?? startedAtMs);
    const sinceHeadMs = furthest === undefined ? 0 : monotonic.nowMs() - furthest.seenAtMs;
    return sinceHeadMs > lateMs ? Math.max(sinceHeadMs, sinceReadMs) : sinceReadMs;
  };

  return {
    solverBalance: (currency) => ({ amount: freshValue("balances", currency) }),
    paymentCost: (currency) => freshValue("costs", currency),
    isLagging: () => headAgeMs() > lateMs,
    headAgeMs,
    endpoints: () => connection.endpoints?.() ?? [],
    refresh,
    close: () => {
      isClosed = true;
      unsubscribe();
      clearInterval(timer);
    },
  };
}
