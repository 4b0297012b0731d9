import type { Address } from "@causeway/domain";
import { createFactCache, type FactCache } from "../evm/fact-cache.ts";
import { RpcFault } from "@causeway/families";
import type { LedgerPage, LedgerTransfer } from "@causeway/families/hyperliquid";
import type { HyperliquidRpc } from "./rpc.ts";

/** Reads an account's ledger, and reports whether everything in it was read. */

/**
 * An answer with fewer entries is complete. Hyperliquid documents a limit of 500 entries or blocks per
 * answer. It does not specify which end of the range is then cut off, and a truncated answer does not reveal
 * that it was truncated.
 */
const MIN_TRUNCATED_ENTRIES = 300;

/**
 * A truncated answer with this many entries of one block time is split there; halving would take dozens of
 * requests to find that time.
 */
const MIN_BUSY_ENTRIES = MIN_TRUNCATED_ENTRIES / 2;

/** Maximum number of requests for one reading. */
const MAX_REQUESTS = 64;

/** Maximum number of cached crowded block times per account. */
const MAX_CROWDED = 10_000;

export interface LedgerReading extends Omit<LedgerPage, "size"> {
  /** Everything from the start of the range up to this block time (ms) was requested. */
  readonly upTo: bigint;
  /**
   * Block times (ms) with so many entries that the answer may have been truncated, so entries may be missing.
   * Anyone can cause this by sending the account enough transfers in one block.
   */
  readonly crowded: readonly bigint[];
  /** Whether these are certainly all entries of the range. Only then does a missing entry prove anything. */
  readonly isWhole: boolean;
  /** What ended the reading early; only with {@link LedgerReadingOptions.keepsPartial}. */
  readonly fault?: RpcFault;
}

/** Block times (ms) at which one account's ledger is known to be crowded. */
export interface CrowdedTimestamps extends Iterable<bigint> {
  add(time: bigint): void;
}

/** @param onNew called once for each block time */
export function createCrowdedTimestamps(onNew: (time: bigint) => void = () => undefined): CrowdedTimestamps {
  const times = new Set<bigint>();
  return {
    [Symbol.iterator]: () => times.values(),
    add: (time) => {
      if (times.has(time)) return;
      const [oldest] = times;
      if (times.size >= MAX_CROWDED && oldest !== undefined) times.delete(oldest);
      times.add(time);
      onNew(time);
    },
  };
}

/** A cached answer. */
export interface CachedPage extends LedgerPage {
  /** The block time with the most entries of a truncated answer, if there are many. */
  readonly busiest?: bigint | undefined;
  /** The median block time of the entries of a truncated answer. */
  readonly median?: bigint | undefined;
}

export interface LedgerReadingOptions {
  /** Drops incoming transfers, of which there can be far more. */
  readonly onlySent?: boolean;
  /**
   * Earlier answers by range, only for times at which Hyperliquid adds no more entries. Lets several readings
   * cover a long ledger.
   */
  readonly cachedPages?: FactCache<CachedPage> | undefined;
  /**
   * Block times already known to be crowded: each is requested by itself instead of being searched for again.
   * New ones are added as soon as they are found, so that a later fault does not lose the search.
   */
  readonly crowded?: CrowdedTimestamps | undefined;
  /** Maximum number of requests; default {@link MAX_REQUESTS}. */
  readonly maxRequests?: number;
  /**
   * Returns what was read before a fault, with the fault, instead of throwing it; such a reading is never
   * complete. Continues beyond `maxRequests` until one range was read, so that several readings cover any
   * ledger.
   */
  readonly keepsPartial?: boolean;
  /** Called with everything read so far; true ends the reading there. */
  readonly isEnough?: (transfers: readonly LedgerTransfer[]) => boolean;
}

/**
 * Reads the transfers, and the entries of unknown kinds, of an account between two block times (ms, both
 * inclusive), oldest ranges first. A range whose answer may have been truncated is requested again in parts.
 * Every entry up to `upTo` that Hyperliquid shows is returned, even if the reading ends early.
 *
 * @throws RpcFault unless it keeps partial readings
 */
export async function readWholeLedger(
  rpc: Pick<HyperliquidRpc, "ledger">,
  user: Address,
  from: bigint,
  to: bigint,
  options: LedgerReadingOptions = {},
): Promise<LedgerReading> {
  const { cachedPages, maxRequests = MAX_REQUESTS } = options;
  const transfers: LedgerPage["transfers"][number][] = [];
  const unknown: LedgerPage["unknown"][number][] = [];
  const crowded: bigint[] = [];
  const start = from < 0n ? 0n : from;
  const pendingRanges = rangesAround(options.crowded ?? [], start, to).toReversed();
  let requests = 0;
  for (let range = pendingRanges.pop(); range !== undefined; range = pendingRanges.pop()) {
    const endedEarly = { transfers, unknown, crowded, upTo: range.from - 1n, isWhole: false };
    const key = `${user} ${range.from} ${range.to}`;
    const cachedPage = cachedPages?.get(key);
    const isProgress = options.keepsPartial !== true || range.from > start;
    if (cachedPage === undefined && requests++ >= maxRequests && isProgress) return endedEarly;
    let page = cachedPage;
    try {
      page ??= pageOf(await rpc.ledger(user, range.from, range.to), user, options.onlySent ?? false);
    } catch (fault) {
      if (!(fault instanceof RpcFault) || options.keepsPartial !== true) throw fault;
      return { ...endedEarly, fault };
    }
    if (cachedPage === undefined) cachedPages?.set(key, page);
    const isTruncated = page.size >= MIN_TRUNCATED_ENTRIES;
    if (isTruncated && range.from < range.to) {
      pendingRanges.push(...splitRange(range, page).toReversed());
      continue;
    }
    if (isTruncated) {
      crowded.push(range.from);
      options.crowded?.add(range.from);
    }
    // No two ranges overlap, so no entry is added twice. Several entries may share a hash.
    transfers.push(...page.transfers);
    unknown.push(...page.unknown);
    if (pendingRanges.length > 0 && options.isEnough?.(transfers) === true)
      return { transfers, unknown, crowded, upTo: range.to, isWhole: false };
  }
  return { transfers, unknown, crowded, upTo: to, isWhole: crowded.length === 0 };
}

interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

/** Splits a range so that each of these block times is a separate range, in ascending order. */
function rangesAround(times: Iterable<bigint>, from: bigint, to: bigint): readonly Range[] {
  const timesInRange = [...new Set(times)].filter((time) => time >= from && time <= to);
  const ranges: Range[] = [];
  let start = from;
  for (const time of timesInRange.toSorted((a, b) => (a < b ? -1 : 1))) {
    ranges.push({ from: start, to: time - 1n }, { from: time, to: time });
    start = time + 1n;
  }
  return [...ranges, { from: start, to }].filter((range) => range.from <= range.to);
}

/**
 * Splits a range around its busiest block time, or otherwise in two: after the median entry of its answer, so
 * that the answer for the first part is probably complete, but no later than halfway, in case the answer
 * showed the newest entries. The parts cover the range without overlap.
 */
function splitRange({ from, to }: Range, { busiest, median }: CachedPage): readonly Range[] {
  if (busiest !== undefined && busiest >= from && busiest <= to) return rangesAround([busiest], from, to);
  const half = (from + to) / 2n;
  const middle = median !== undefined && median >= from && median < half ? median : half;
  return [
    { from, to: middle },
    { from: middle + 1n, to },
  ];
}

function pageOf(page: LedgerPage, account: Address, onlySent: boolean): CachedPage {
  const { size, transfers, unknown } = page;
  const times = size < MIN_TRUNCATED_ENTRIES ? [] : [...transfers, ...unknown].map(({ time }) => time);
  const [busiest, median] = [busiestOf(times), medianOf(times)];
  if (!onlySent) return { ...page, busiest, median };
  return {
    size,
    transfers: transfers.filter(({ user }) => user === account),
    unknown: unknown.filter(({ user }) => user === undefined || user === account),
    busiest,
    median,
  };
}

function medianOf(times: readonly bigint[]): bigint | undefined {
  return times.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))[Math.floor(times.length / 2)];
}

function busiestOf(times: readonly bigint[]): bigint | undefined {
  const counts = new Map<bigint, number>();
  for (const time of times) counts.set(time, (counts.get(time) ?? 0) + 1);
  const [time, count] = [...counts].reduce<readonly [bigint | undefined, number]>(
    (fullest, entry) => (entry[1] > fullest[1] ? entry : fullest),
    [undefined, 0],
  );
  return count >= MIN_BUSY_ENTRIES ? time : undefined;
}

/** A cache for {@link LedgerReadingOptions.cachedPages}. */
export function createLedgerCache(): FactCache<CachedPage> {
  return createFactCache({
    entries: 5_000,
    bytes: 8 * 1024 * 1024,
    sizeOf: ({ transfers, unknown }) => 256 + 512 * (transfers.length + unknown.length),
  });
}
