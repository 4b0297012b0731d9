import type { Address } from "@causeway/domain";
import { rememberedFacts, type RememberedFacts } from "../evm/remembered-facts.ts";
import type { LedgerPage } from "./answers.ts";
import type { ExchangeRpc } from "./rpc.ts";

/** Reads an account's ledger, and says whether everything in it was read. */

/**
 * An answer with fewer entries is complete. Hyperliquid documents a limit of 500 entries or blocks per answer. It does not say
 * which end of the range is then cut off, and a cut answer does not show that it was cut.
 */
const MIN_CUT_ENTRIES = 300;

/** Maximum number of requests for one reading. */
const MAX_REQUESTS = 64;

export interface LedgerReading extends Omit<LedgerPage, "size"> {
  /** Everything from the start of the range up to this block time (ms) was asked for. */
  readonly upTo: bigint;
  /**
   * Block times (ms) with so many entries that the answer may have been cut: entries may be missing here. Anyone can cause this
   * by sending the account enough transfers in one block.
   */
  readonly crowded: readonly bigint[];
  /** Whether these are certainly all entries of the range. Only then does a missing entry prove anything. */
  readonly isWhole: boolean;
}

export interface LedgerReadingOptions {
  /** Earlier answers by range, only for times to which the exchange adds no more entries. Lets several readings cover a long ledger. */
  readonly known?: RememberedFacts<LedgerPage> | undefined;
  /** Block times already known to be crowded: each is asked for alone instead of being searched for again. */
  readonly crowded?: Iterable<bigint> | undefined;
}

/**
 * Reads the transfers, and the entries of unknown kinds, of an account between two block times (ms, both inclusive), oldest
 * ranges first. A range whose answer may have been cut is asked for again in halves.
 *
 * @throws RpcFault
 */
export async function readWholeLedger(
  rpc: Pick<ExchangeRpc, "ledger">,
  user: Address,
  from: bigint,
  to: bigint,
  options: LedgerReadingOptions = {},
): Promise<LedgerReading> {
  const { known } = options;
  const transfers: LedgerPage["transfers"][number][] = [];
  const unknown: LedgerPage["unknown"][number][] = [];
  const crowded: bigint[] = [];
  const open = rangesAround(options.crowded ?? [], from < 0n ? 0n : from, to).toReversed();
  let requests = 0;
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const key = `${user} ${range.from} ${range.to}`;
    const earlier = known?.get(key);
    if (earlier === undefined && requests++ >= MAX_REQUESTS)
      return { transfers, unknown, crowded, upTo: range.from - 1n, isWhole: false };
    const page = earlier ?? (await rpc.ledger(user, range.from, range.to));
    if (earlier === undefined) known?.set(key, page);
    const isCut = page.size >= MIN_CUT_ENTRIES;
    if (isCut && range.from < range.to) {
      const middle = (range.from + range.to) / 2n;
      open.push({ from: middle + 1n, to: range.to }, { from: range.from, to: middle });
      continue;
    }
    if (isCut) crowded.push(range.from);
    // No two ranges overlap, so no entry is added twice. Several entries may share a hash.
    transfers.push(...page.transfers);
    unknown.push(...page.unknown);
  }
  return { transfers, unknown, crowded, upTo: to, isWhole: crowded.length === 0 };
}

interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

/** Splits a range so that each of these moments is a range of its own, in ascending order. */
function rangesAround(moments: Iterable<bigint>, from: bigint, to: bigint): readonly Range[] {
  const inside = [...new Set(moments)].filter((time) => time >= from && time <= to);
  const ranges: Range[] = [];
  let start = from;
  for (const time of inside.toSorted((a, b) => (a < b ? -1 : 1))) {
    ranges.push({ from: start, to: time - 1n }, { from: time, to: time });
    start = time + 1n;
  }
  return [...ranges, { from: start, to }].filter((range) => range.from <= range.to);
}

/** Drops what others sent to an account: incoming transfers can be many times as many. */
export function sentBy(account: Address, { size, transfers, unknown }: LedgerPage): LedgerPage {
  return {
    size,
    transfers: transfers.filter(({ user }) => user === account),
    unknown: unknown.filter(({ user }) => user === undefined || user === account),
  };
}

/** Memory for {@link LedgerReadingOptions.known}. */
export function rememberedLedgers(): RememberedFacts<LedgerPage> {
  return rememberedFacts({
    entries: 5_000,
    bytes: 8 * 1024 * 1024,
    sizeOf: ({ transfers, unknown }) => 256 + 512 * (transfers.length + unknown.length),
  });
}
