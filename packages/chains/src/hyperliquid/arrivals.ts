import type { Address, Hex, Hex32, TxHash } from "@causeway/domain";
import type { DepositFact } from "@causeway/families/evm";
import { RpcFault } from "@causeway/families";
import type { NonEvmArrivals, NonEvmTransaction, ShownTransaction } from "../non-evm-connection.ts";
import {
  timestampOf,
  type HyperliquidDeposit,
  type HyperliquidTransaction,
  type LedgerTransfer,
} from "@causeway/families/hyperliquid";
import { advanceCursor, OVERLAP_MS, readCursor, writeCursor, type LedgerCursor } from "./cursor.ts";
import type { HyperliquidRpc } from "./rpc.ts";
import { createCrowdedTimestamps, readWholeLedger, type LedgerReading } from "./whole-ledger.ts";

/** Reads arriving deposits for the service. */
export interface ArrivalsReader {
  arrivals(cursor: string | undefined): Promise<NonEvmArrivals>;
  arrivalsOf(transactionId: TxHash, shown?: ShownTransaction): Promise<NonEvmTransaction>;
}

export interface ArrivalsReaderOptions {
  readonly rpc: HyperliquidRpc;
  /** Maximum number of transactions in one reading. Default 100. */
  readonly maxTransactions?: number;
  /** The current one first. */
  readonly depositories: readonly [Address, ...Address[]];
  /** The deposit of a transaction, as oracles judge it. */
  judge(
    transaction: HyperliquidTransaction,
  ): Promise<HyperliquidDeposit | { readonly refusal: string } | undefined>;
  /** The purpose of a transfer; undefined if it is not known (yet). */
  findPurpose(
    deposit: HyperliquidDeposit,
    time: bigint,
  ): Promise<{ readonly id: Hex32; readonly depositor: Address | undefined } | undefined>;
  /** Called for funds that arrived in a way that oracles do not attest. */
  onStranded(transaction: HyperliquidTransaction, reason: string): void;
  /**
   * Called for a transfer that could not be read correctly for too long: from then on it is read only if it
   * is reported by its hash.
   */
  onSkipped(hash: Hex32): void;
  /**
   * Called once for each block time (ms) at which a depository has so many ledger entries that some may be
   * missing from the answer. The reading continues after it. A missed deposit is found once a client reports
   * its transaction.
   */
  onCrowdedTimestamp(depository: Address, time: bigint): void;
}

/** The explorer's content of an entry; without a block, it has none yet. */
interface Reading {
  readonly block: bigint | undefined;
  readonly deposits: readonly DepositFact[];
}

/**
 * The part of the ledgers that was read: every entry up to `upTo` that Hyperliquid shows. It never proves
 * that an entry is missing.
 */
interface PartialLedger extends Pick<LedgerReading, "transfers" | "upTo" | "fault"> {
  /**
   * Whether everything since the start of the overlap was read. If not, entries that earlier readings
   * returned may be missing.
   */
  readonly isComplete: boolean;
}

/** Without a cursor, reading starts this many ms before Hyperliquid's clock. */
const INITIAL_LOOKBACK_MS = 600_000n;
/** Distance of the cursor behind the clock without new entries, ms. */
const IDLE_MS = 1_800_000n;
/** Maximum time range of one reading, ms. */
const MAX_RANGE_MS = 86_400_000n;
/**
 * Maximum number of transactions requested per reading, and concurrently: anyone can send dust to the
 * depository.
 */
const MAX_TRANSACTIONS = 100;
const MAX_CONCURRENT_READS = 8;
/** Age in ms at which an unreadable transaction is skipped, so that it does not block the others forever. */
const MAX_UNREADABLE_MS = 43_200_000n;
/**
 * Maximum number of ledger requests in one reading, divided among the depositories: for what follows the
 * cursor, and for the overlap before it. At a weight of 20 each, most of a public endpoint's 1,200 per minute
 * is left for the transactions.
 */
const MAX_LEDGER_REQUESTS = 24;
const MAX_OVERLAP_REQUESTS = 16;
/** If the cursor is this far behind the clock, ms, the index has long shown everything before it. */
const OVERLAP_SETTLED_MS = 600_000n;

export function createArrivalsReader(options: ArrivalsReaderOptions): ArrivalsReader {
  const { rpc, depositories, maxTransactions = MAX_TRANSACTIONS } = options;

  async function factsOf(transaction: HyperliquidTransaction): Promise<DepositFact[]> {
    const deposit = await options.judge(transaction);
    if (deposit === undefined) return [];
    if ("refusal" in deposit) {
      if (transaction.error === undefined) options.onStranded(transaction, deposit.refusal);
      return [];
    }
    const { sender, currency, amount, nonce, destination: depository } = deposit;
    const timestamp = timestampOf(transaction);
    const purpose = await options.findPurpose(deposit, timestamp);
    return [
      {
        txHash: transaction.hash,
        ordinal: 0,
        logIndex: 0,
        blockNumber: transaction.block,
        blockHash: blockHashOf(transaction.block),
        depositor: purpose?.depositor ?? sender,
        sender,
        currency,
        amount,
        depository,
        id: purpose?.id,
        nonce,
        timestamp,
      },
    ];
  }

  /** An unreadable transaction does not keep others from being read. @throws RpcFault without an answer */
  async function readTransfer({ hash }: LedgerTransfer): Promise<Reading> {
    try {
      const transaction = await rpc.transaction(hash);
      if (transaction === undefined) return { block: undefined, deposits: [] };
      return { block: transaction.block, deposits: await factsOf(transaction) };
    } catch (error) {
      if (!(error instanceof RpcFault) || error.kind !== "garbage") throw error;
      return { block: undefined, deposits: [] };
    }
  }

  /**
   * Reads the first of these transfers from the explorer. A fault ends the reading, but what was read before
   * it counts: an endpoint's rate limit only delays a large number of transfers, and does not restart them.
   * @throws RpcFault if not even the first transactions could be read
   */
  async function read(fresh: readonly LedgerTransfer[]): Promise<{
    readonly found: readonly (Reading & { readonly transfer: LedgerTransfer })[];
    /** Transfers whose requests failed; nothing is known about them. */
    readonly failed: readonly LedgerTransfer[];
    readonly fault: RpcFault | undefined;
    /** The index of the first transfer that was not requested. */
    readonly next: number;
  }> {
    const found: (Reading & { readonly transfer: LedgerTransfer })[] = [];
    const failed: LedgerTransfer[] = [];
    let fault: RpcFault | undefined;
    let next = 0;
    while (next < Math.min(fresh.length, maxTransactions) && fault === undefined) {
      const batch = fresh.slice(next, Math.min(next + MAX_CONCURRENT_READS, maxTransactions));
      next += batch.length;
      const results = await Promise.all(
        batch.map(async (transfer) => ({
          transfer,
          reading: await readTransfer(transfer).catch(faultOrThrow),
        })),
      );
      for (const { transfer, reading } of results) {
        if (reading instanceof RpcFault) {
          fault ??= reading;
          failed.push(transfer);
        } else found.push({ transfer, ...reading });
      }
    }
    // Without a transaction in a block there is no progress to keep.
    if (fault !== undefined && !found.some(({ block }) => block !== undefined)) throw fault;
    return { found, failed, fault, next };
  }

  const crowdedByDepository = new Map(
    depositories.map((depository) => [
      depository,
      createCrowdedTimestamps((time) => options.onCrowdedTimestamp(depository, time)),
    ]),
  );
  /**
   * Transfers in the overlap that the index showed late, and that no cursor marks as read yet. They are read,
   * and keep the cursor from advancing, even while the overlap is not read again. Undefined: this process has
   * read nothing yet.
   */
  let lateTransfers: readonly LedgerTransfer[] | undefined;
  /**
   * Block times of entries that this process read. Keeps the cursor short while the overlap is not read
   * fully.
   */
  const timesByHash = new Map<Hex32, bigint>();

  /** The hashes of read entries that the cursor must still list. */
  function rememberedEntries(
    cursor: LedgerCursor,
    { transfers, isComplete }: PartialLedger,
  ): readonly Hex32[] {
    if (isComplete) {
      timesByHash.clear();
      return stillReported(cursor, transfers);
    }
    const oldest = cursor.time - OVERLAP_MS;
    const remembered = cursor.seen.filter((hash) => (timesByHash.get(hash) ?? oldest) >= oldest);
    for (const [hash, time] of timesByHash) if (time < oldest) timesByHash.delete(hash);
    for (const { hash, time } of transfers) timesByHash.set(hash, time);
    return remembered;
  }

  /**
   * A depository's ledger from the overlap before the cursor on. One request suffices unless the answer is
   * truncated. Then the entries after the cursor come first: the overlap was read before, and a crowd in it
   * must not stop the reading.
   * @throws RpcFault if nothing after the cursor was read
   */
  async function ledgerOf(
    depository: Address,
    { cursor, last, clock }: { readonly cursor: bigint; readonly last: bigint; readonly clock: bigint },
    isEnough: (transfers: readonly LedgerTransfer[]) => boolean,
  ): Promise<PartialLedger> {
    const crowded = crowdedByDepository.get(depository);
    const whole = await readWholeLedger(rpc, depository, cursor - OVERLAP_MS, last, {
      crowded,
      maxRequests: 1,
    });
    if (whole.upTo === last) return { ...whole, isComplete: true };
    const after = await readWholeLedger(rpc, depository, cursor, last, {
      crowded,
      maxRequests: Math.ceil(MAX_LEDGER_REQUESTS / depositories.length),
      keepsPartial: true,
      isEnough,
    });
    if (after.fault !== undefined && after.upTo < cursor) throw after.fault;
    const isSettled = lateTransfers !== undefined && clock - cursor > OVERLAP_SETTLED_MS;
    if (after.fault !== undefined || isSettled) return { ...after, isComplete: false };
    const overlap = await readWholeLedger(rpc, depository, cursor - OVERLAP_MS, cursor - 1n, {
      crowded,
      maxRequests: Math.ceil(MAX_OVERLAP_REQUESTS / depositories.length),
      keepsPartial: true,
    });
    return {
      transfers: [...overlap.transfers, ...after.transfers],
      upTo: after.upTo,
      isComplete: overlap.upTo === cursor - 1n && after.upTo === last,
      ...(overlap.fault !== undefined && { fault: overlap.fault }),
    };
  }

  /**
   * Transfers into the depositories from the overlap before the cursor on, oldest first, and the time up to
   * which all of them were read. Ends once it has more transfers than one reading requests from the explorer.
   * @throws RpcFault
   */
  async function transfersFrom({ time: cursor, seen }: LedgerCursor, clock: bigint): Promise<PartialLedger> {
    const to = clock > cursor ? clock : cursor;
    const last = to - cursor > MAX_RANGE_MS ? cursor + MAX_RANGE_MS : to;
    const readHashes = new Set(seen);
    const isReceived = ({ destination }: LedgerTransfer): boolean => depositories.includes(destination);
    const isEnough = (transfers: readonly LedgerTransfer[]): boolean =>
      transfers.filter((transfer) => isReceived(transfer) && !readHashes.has(transfer.hash)).length >
      maxTransactions;
    const ledgers = await Promise.all(
      depositories.map(async (depository) => await ledgerOf(depository, { cursor, last, clock }, isEnough)),
    );
    const upTo = ledgers.reduce((min, ledger) => (ledger.upTo < min ? ledger.upTo : min), last);
    const fault = ledgers.find((ledger) => ledger.fault !== undefined)?.fault;
    const received = [...(lateTransfers ?? []), ...ledgers.flatMap(({ transfers }) => transfers)]
      .filter((transfer) => isReceived(transfer) && transfer.time <= upTo)
      .map((transfer) => [transfer.hash, transfer] as const);
    return {
      transfers: [...new Map(received).values()].toSorted(inOrder),
      upTo,
      isComplete: ledgers.every(({ isComplete }) => isComplete),
      ...(fault !== undefined && { fault }),
    };
  }

  return {
    arrivals: async (storedCursor) => {
      const clock = await rpc.clock(depositories[0]);
      const cursor: LedgerCursor =
        storedCursor === undefined
          ? { time: clock > INITIAL_LOOKBACK_MS ? clock - INITIAL_LOOKBACK_MS : 0n, block: 0n, seen: [] }
          : readCursor(storedCursor);
      const seen = new Set(cursor.seen);
      lateTransfers = lateTransfers?.filter(
        ({ hash, time }) => !seen.has(hash) && time >= cursor.time - OVERLAP_MS,
      );
      const ledger = await transfersFrom(cursor, clock);
      const { transfers, upTo } = ledger;
      const fresh = transfers.filter(({ hash }) => !seen.has(hash));
      // Kept until a cursor marks them as read: the caller may fail to store the result.
      lateTransfers = fresh.filter(({ time }) => time < cursor.time);
      const { found, failed, next, ...reading } = await read(fresh);
      const fault = reading.fault ?? ledger.fault;
      // The explorer may be behind the ledger: transfers that it does not know yet stay after the cursor,
      // like those beyond this reading.
      const isTooOld = ({ time }: LedgerTransfer): boolean => time < clock - MAX_UNREADABLE_MS;
      const unanswered = found.filter(({ block }) => block === undefined).map(({ transfer }) => transfer);
      const skipped = unanswered.filter(isTooOld);
      for (const { hash } of skipped) options.onSkipped(hash);
      const unread = [
        ...unanswered.filter((transfer) => !isTooOld(transfer)),
        ...failed,
        ...fresh.slice(next),
      ];
      const nextCursor = advanceCursor(
        { ...cursor, seen: rememberedEntries(cursor, ledger) },
        [
          ...found.flatMap(({ transfer, block }) => (block === undefined ? [] : [{ ...transfer, block }])),
          ...skipped.map((transfer) => ({ ...transfer, block: cursor.block })),
        ],
        unread,
        cursorLimit(transfers, { before: cursor.time, upTo, clock }),
      );
      const [oldest] = unread.map(({ time }) => time).toSorted((a, b) => (a < b ? -1 : 1));
      // Requests must not expire past this time, because a deposit in time may be among the unread ones.
      const readUntil = [clock, upTo, ...(oldest === undefined ? [] : [oldest - 1n])].reduce(minOf);
      return {
        deposits: found.flatMap(({ deposits }) => deposits),
        cursor: writeCursor(nextCursor),
        ...(storedCursor === undefined && { startedAt: writeCursor(cursor) }),
        ...(fault !== undefined && { fault }),
        ...(oldest !== undefined && { unreadSince: oldest / 1_000n }),
        upTo: {
          number: nextCursor.block,
          hash: blockHashOf(nextCursor.block),
          timestamp: readUntil / 1_000n,
        },
      };
    },

    arrivalsOf: async (transactionId, shown) => {
      const transaction = await rpc.transaction(transactionId);
      if (transaction === undefined) {
        if (shown !== undefined && (await rpc.clock(depositories[0])) / 1_000n <= shown.timestamp)
          return { kind: "notFinal" };
        return { kind: "absent" };
      }
      const { block } = transaction;
      return {
        kind: "final",
        deposits: await factsOf(transaction),
        upTo: { number: block, hash: blockHashOf(block), timestamp: timestampOf(transaction) },
      };
    },
  };
}

/**
 * How far the cursor may advance: to the newest entry, so that it stays while nothing happens. If that entry
 * is old, or only the beginning of the range was read, it follows the clock at a distance that a healthy
 * index never falls behind.
 */
function cursorLimit(
  transfers: readonly LedgerTransfer[],
  { before, upTo, clock }: { readonly before: bigint; readonly upTo: bigint; readonly clock: bigint },
): bigint {
  const last = transfers.at(-1)?.time ?? before;
  const settled = upTo < clock - IDLE_MS ? upTo : clock - IDLE_MS;
  return settled > last && (upTo < clock || settled - last > IDLE_MS) ? settled : last;
}

function minOf(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function faultOrThrow(error: unknown): RpcFault {
  if (error instanceof RpcFault) return error;
  throw error;
}

/** The seen hashes that the ledger still reports and that must be remembered. */
function stillReported({ seen }: LedgerCursor, transfers: readonly LedgerTransfer[]): readonly Hex32[] {
  const reported = new Set(transfers.map(({ hash }) => hash));
  return seen.filter((hash) => reported.has(hash));
}

function inOrder(a: LedgerTransfer, b: LedgerTransfer): number {
  if (a.time !== b.time) return a.time < b.time ? -1 : 1;
  return a.hash < b.hash ? -1 : 1;
}

/** Hyperliquid returns block numbers but no hashes, and has never reused a number. */
export function blockHashOf(block: bigint): Hex {
  return `0x${block.toString(16).padStart(64, "0")}`;
}
