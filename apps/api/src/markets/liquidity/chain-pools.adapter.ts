import type { BlockRef, ChainReader, HeadSource, PoolFacts, PoolReader, PoolTick } from "@causeway/chains";
import { followTrail, isUnknownBlock, NodeRefusal } from "@causeway/chains";
import type { Address, Hex, KnownTicks, PoolSource } from "@causeway/domain";
import { MAX_TICK, MIN_TICK } from "@causeway/domain";
import type { Clock } from "../../db/clock.port.ts";
import type { MaybePromise } from "@causeway/domain";
import { findPools } from "./find-pools.adapter.ts";
import {
  concentratedHops,
  pairHops,
  priceRangeBps,
  roughPrice,
  type PoolIdentity,
  type LivePool,
} from "./live-pool.adapter.ts";
import type { TokenPair } from "./token-pair.adapter.ts";

export interface ChainPoolsOptions {
  readonly sources: readonly PoolSource[];
  readonly pools: PoolReader;
  readonly reader: Pick<ChainReader, "head" | "block" | "blockByHash">;
  readonly heads: Pick<HeadSource, "latest" | "onHead">;
  readonly clock: Clock;
  /** Receives failed background reads. */
  readonly onFault: (error: unknown) => void;
}

/** Pools at one block. The pools of a pair are in the order of their sources and fees. */
export interface PoolSnapshot {
  readonly block: BlockRef;
  readonly live: ReadonlyMap<string, readonly LivePool[]>;
}

/** The requested pools of one chain, cached in memory. */
export interface ChainPools {
  /**
   * Pools of these pairs at the newest block. Synchronous until a newer block arrives. Pass the same array
   * again if possible: that is fastest.
   * @throws RpcFault when the pools cannot be read and the cache is too old
   */
  read(pairs: readonly TokenPair[]): MaybePromise<PoolSnapshot>;
  /** The newest reading, of any age. Undefined: nothing was read yet. */
  cached(): PoolSnapshot | undefined;
  close(): void;
}

/**
 * If reading the newest block takes longer than `PATIENCE_MS`, a cache that is at most this many blocks older
 * may answer.
 */
const MAX_BLOCKS_BEHIND = 2n;
const PATIENCE_MS = 25;
/** After more missed blocks than this, everything is read again. */
const MAX_BLOCKS_FOLLOWED = 16;
/** Bitmap words that are read on each side of the price: at the smallest tick spacing, about 10,000 bps. */
const WORDS_EACH_WAY = 40;
/**
 * When fewer words than this are left between the price and the end of the read range, the ticks around the
 * price are read again.
 */
const MIN_WORDS_LEFT = 20;
const TICKS_PER_WORD = 256;
/** How often all pairs are searched again for new pools. */
const SEARCH_INTERVAL_MS = 10 * 60_000;
/**
 * Pairs that were not requested for this long are evicted. Beyond `MAX_PAIRS`, the least recently requested
 * pairs are evicted too.
 */
const KEPT_MS = 15 * 60_000;
const MAX_PAIRS = 600;
/** Number of prices, one per read block, that are kept to measure the volatility of a pool. */
const PRICES_KEPT = 16;

interface WatchedPair {
  readonly pair: TokenPair;
  pools: readonly PoolIdentity[];
  /** Undefined until the first search. */
  refreshedAtMs: number | undefined;
  lastUsedAtMs: number;
}

/** A snapshot and the state from which the next one is derived. */
interface Reading extends PoolSnapshot {
  readonly ticks: ReadonlyMap<Address, KnownTicks>;
  readonly prices: ReadonlyMap<Address, readonly number[]>;
}

/**
 * Reads the requested pools at each new head in one multicall, with the tick changes since the previous
 * reading. A reading belongs to one block hash: if the new head does not descend from it within a few blocks,
 * all ticks are read again. At most one read runs at a time; requests in the meantime cause exactly one more.
 */
export function createChainPools(options: ChainPoolsOptions): ChainPools {
  const { sources, pools: reader, heads, clock, onFault } = options;
  const watched = new Map<string, WatchedPair>();
  let reading: Reading | undefined;
  let currentRead: Promise<void> | undefined;
  let isClosed = false;

  function watch(pairs: readonly TokenPair[]): void {
    const now = clock.nowMs();
    for (const pair of pairs) {
      const watchedPair = watched.get(pair.key);
      if (watchedPair === undefined)
        watched.set(pair.key, { pair, pools: [], refreshedAtMs: undefined, lastUsedAtMs: now });
      else watchedPair.lastUsedAtMs = now;
    }
  }

  function evictUnused(): void {
    const now = clock.nowMs();
    for (const [key, { lastUsedAtMs }] of watched) if (now - lastUsedAtMs > KEPT_MS) watched.delete(key);
    if (watched.size <= MAX_PAIRS) return;
    const oldest = [...watched].toSorted(([, a], [, b]) => a.lastUsedAtMs - b.lastUsedAtMs);
    for (const [key] of oldest.slice(0, watched.size - MAX_PAIRS)) watched.delete(key);
  }

  async function read(): Promise<void> {
    evictUnused();
    const announced = heads.latest;
    if (announced === undefined) return await readAt(await options.reader.head());
    try {
      await readAt(announced);
    } catch (error) {
      if (!(error instanceof NodeRefusal && isUnknownBlock(error))) throw error;
      // Behind a load balancer, the node that answers may not have the announced block yet: use its newest
      // block.
      const reached = await options.reader.head();
      if (reached.number <= (reading?.block.number ?? -1n)) throw error;
      await readAt(reached);
    }
  }

  async function readAt(head: BlockRef): Promise<void> {
    const now = clock.nowMs();
    const unsearched = [...watched.values()].filter(
      ({ refreshedAtMs }) => refreshedAtMs === undefined || now - refreshedAtMs > SEARCH_INTERVAL_MS,
    );
    const [blocks, found] = await Promise.all([
      reading === undefined ? undefined : blocksAfter(reading.block, head, options.reader),
      findPools(
        reader,
        sources,
        unsearched.map(({ pair }) => pair),
        head.hash,
      ),
    ]);
    for (const [index, pair] of unsearched.entries()) {
      pair.pools = found[index] as readonly PoolIdentity[];
      pair.refreshedAtMs = now;
    }
    // Pairs added in the meantime have not been searched yet: they must not count as pairs without a pool.
    const pairs = [...watched.values()].filter(({ refreshedAtMs }) => refreshedAtMs !== undefined);
    const allPools = pairs.flatMap(({ pools }) => pools);
    const before = blocks === undefined ? undefined : reading;
    const followed = [...(before?.ticks.keys() ?? [])];
    const [facts, changed] = await Promise.all([
      reader.facts(allPools, head.hash),
      blocks === undefined || blocks.length === 0 || followed.length === 0
        ? []
        : reader.changedTicks(followed, blocks),
    ]);
    const from =
      changed === undefined ? { before: undefined, changed: [] } : { before: before?.ticks, changed };
    const ticks = await ticksOf(reader, allPools, facts, from, head.hash);
    const isNewBlock = head.hash !== reading?.block.hash;
    const prices = new Map<Address, readonly number[]>();
    const live = new Map<string, LivePool[]>();
    for (const { pair } of pairs) live.set(pair.key, []);
    for (const [index, pool] of allPools.entries()) {
      const hops = hopsOf(pool, facts[index] as PoolFacts, ticks.get(pool.address));
      if (hops === undefined) continue;
      const earlier = reading?.prices.get(pool.address) ?? [];
      const price = roughPrice(hops);
      const recent =
        price === undefined || !(isNewBlock || earlier.length === 0)
          ? earlier
          : [...earlier, price].slice(-PRICES_KEPT);
      prices.set(pool.address, recent);
      live.get(pool.pair.key)?.push({ identity: pool, ...hops, movedBps: priceRangeBps(recent) });
    }
    reading = { block: head, live, ticks, prices };
  }

  function isNewest(candidate: Reading): boolean {
    return heads.latest?.hash === candidate.block.hash;
  }

  /** Joins the running read, which may have started before the newest head or pair. */
  function refresh(): Promise<void> {
    currentRead ??= read().finally(() => {
      currentRead = undefined;
    });
    return currentRead;
  }

  function covers(candidate: Reading | undefined, pairs: readonly TokenPair[]): candidate is Reading {
    return candidate !== undefined && pairs.every(({ key }) => candidate.live.has(key));
  }

  /** The reading that covers a list of pairs. Cached, because a quote asks for the same list repeatedly. */
  const covered = new WeakMap<readonly TokenPair[], Reading>();

  function newestReading(pairs: readonly TokenPair[]): Reading | undefined {
    if (reading === undefined || !isNewest(reading)) return undefined;
    if (covered.get(pairs) === reading) return reading;
    watch(pairs);
    if (!covers(reading, pairs)) return undefined;
    covered.set(pairs, reading);
    return reading;
  }

  /** A reading that may answer even though a newer block is known. */
  function usableReading(pairs: readonly TokenPair[]): Reading | undefined {
    if (!covers(reading, pairs)) return undefined;
    const blocksBehind = (heads.latest?.number ?? reading.block.number) - reading.block.number;
    return blocksBehind >= 0n && blocksBehind <= MAX_BLOCKS_BEHIND ? reading : undefined;
  }

  async function waitFor(pairs: readonly TokenPair[]): Promise<PoolSnapshot> {
    const newest = untilNewest(pairs);
    if (usableReading(pairs) === undefined) return await newest;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
    });
    try {
      return (await Promise.race([newest, timeout])) ?? usableReading(pairs) ?? (await newest);
    } finally {
      clearTimeout(timer);
    }
  }

  async function untilNewest(pairs: readonly TokenPair[]): Promise<PoolSnapshot> {
    // The first read may have started before this question; the second has not. A third read is needed only
    // if another block arrived.
    for (let round = 0; round < 3; round++) {
      try {
        await refresh();
      } catch (error) {
        const older = usableReading(pairs);
        if (older === undefined) throw error;
        return older;
      }
      const newest = newestReading(pairs);
      if (newest !== undefined) return newest;
    }
    // Blocks arrive faster than they are read, or no head was announced: this reading is the newest
    // available.
    if (covers(reading, pairs)) return reading;
    throw new RangeError("too many pairs requested at once");
  }

  const unsubscribe = heads.onHead(() => {
    // Without recently requested pairs, nothing is read; the next caller waits for one read.
    evictUnused();
    if (watched.size === 0 || isClosed) return;
    refresh()
      .then(async () => {
        if (!isClosed && reading !== undefined && !isNewest(reading)) await refresh();
      })
      .catch((error: unknown) => {
        if (!isClosed) onFault(error);
      });
  });

  return {
    read: (pairs) => {
      const newest = newestReading(pairs);
      if (newest !== undefined) return newest;
      watch(pairs);
      return waitFor(pairs);
    },
    cached: () => reading,
    close: () => {
      isClosed = true;
      unsubscribe();
    },
  };
}

/**
 * Hashes of the blocks after `base` up to `head`; empty if both are the same block. Undefined if `head` does
 * not descend from `base` within a few blocks, so everything must be read again.
 */
async function blocksAfter(
  base: BlockRef,
  head: BlockRef,
  reader: Pick<ChainReader, "block" | "blockByHash">,
): Promise<Hex[] | undefined> {
  if (base.hash === head.hash) return [];
  const distance = head.number - base.number;
  if (distance < 1n || distance > BigInt(MAX_BLOCKS_FOLLOWED)) return undefined;
  // Inconsistent headers mean that the chain was reorganized during the reads.
  const change = await followTrail(reader, [base], head).catch(() => undefined);
  if (change?.kind !== "extends" || change.orphanedFrom !== undefined) return undefined;
  return change.append.map(({ hash }) => hash);
}

/**
 * Ticks of all v3 pools: the known range with its changes, or a new range if there is none or the price left
 * the middle of the known range.
 */
async function ticksOf(
  reader: PoolReader,
  pools: readonly PoolIdentity[],
  facts: readonly PoolFacts[],
  previous: {
    readonly before: ReadonlyMap<Address, KnownTicks> | undefined;
    readonly changed: readonly PoolTick[];
  },
  blockHash: Hex,
): Promise<Map<Address, KnownTicks>> {
  const ticksOfPool = new Map<Address, KnownTicks>();
  const ranges: { pool: Address; tickSpacing: number; centerTick: number; words: number }[] = [];
  for (const [index, pool] of pools.entries()) {
    const fact = facts[index] as PoolFacts;
    if (pool.kind !== "uniswap-v3" || fact.kind !== "uniswap-v3" || fact.sqrtPrice === 0n) continue;
    const range = previous.before?.get(pool.address);
    if (range !== undefined && isInMiddle(range, fact.tick, pool.tickSpacing))
      ticksOfPool.set(pool.address, range);
    else
      ranges.push({
        pool: pool.address,
        tickSpacing: pool.tickSpacing,
        centerTick: fact.tick,
        words: WORDS_EACH_WAY,
      });
  }
  const changed = previous.changed.filter(({ pool, tick }) => {
    const range = ticksOfPool.get(pool);
    return range !== undefined && tick >= range.from && tick <= range.to;
  });
  const [fresh, nets] = await Promise.all([
    ranges.length === 0 ? [] : reader.ticksAround(ranges, blockHash),
    changed.length === 0 ? [] : reader.ticks(changed, blockHash),
  ]);
  for (const [index, { pool }] of ranges.entries()) ticksOfPool.set(pool, fresh[index] as KnownTicks);
  for (const [index, { pool, tick }] of changed.entries())
    ticksOfPool.set(pool, withTick(ticksOfPool.get(pool) as KnownTicks, tick, nets[index]));
  return ticksOfPool;
}

/**
 * Whether the price is far enough from both ends of the known range. An end beyond which the pool cannot have
 * ticks does not count.
 */
function isInMiddle(range: KnownTicks, tick: number, tickSpacing: number): boolean {
  const margin = MIN_WORDS_LEFT * TICKS_PER_WORD * tickSpacing;
  return (
    (range.from <= MIN_TICK || tick - range.from >= margin) &&
    (range.to > MAX_TICK - tickSpacing || range.to - tick >= margin)
  );
}

/** The ticks with a new net liquidity at `tick`, or without that tick if `net` is undefined. */
function withTick(range: KnownTicks, tick: number, net: bigint | undefined): KnownTicks {
  const netAtTick = new Map(range.indexes.map((position, index) => [position, range.net[index] as bigint]));
  if (net === undefined) netAtTick.delete(tick);
  else netAtTick.set(tick, net);
  const sorted = [...netAtTick].toSorted(([a], [b]) => a - b);
  return { ...range, indexes: sorted.map(([position]) => position), net: sorted.map(([, value]) => value) };
}

function hopsOf(
  pool: PoolIdentity,
  facts: PoolFacts,
  ticks: KnownTicks | undefined,
): Pick<LivePool, "down" | "up"> | undefined {
  if (pool.kind === "uniswap-v2" && facts.kind === "uniswap-v2") {
    const { reserve0, reserve1 } = facts;
    return pairHops({ reserve0, reserve1, feeBps: BigInt(pool.source.feeBps) });
  }
  // A pool that is not initialized has no price.
  if (pool.kind !== "uniswap-v3" || facts.kind !== "uniswap-v3" || ticks === undefined) return undefined;
  const { sqrtPrice, tick, liquidity } = facts;
  return concentratedHops({
    sqrtPrice,
    tick,
    liquidity,
    fee: BigInt(pool.fee),
    tickSpacing: pool.tickSpacing,
    ticks,
  });
}
