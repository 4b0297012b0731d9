import { inconsistent, RpcFault } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmArrivals, NonEvmConnection } from "./non-evm-connection.ts";
import { byTransaction, QUESTION, type TransactionDeposits } from "./non-evm-deposit-quorum.ts";
import { createOpenDeposits, type ConfirmDeposits, type Start } from "./non-evm-open-deposits.ts";

/** Interval of second readings, ms. */
const EVERY_MS = 60_000;
/** How often second readings from before a restart may fail in all. */
const MAX_FAILURES = 10;
/** Seconds until all endpoints show a transaction. */
const SPREAD_SECONDS = 30n;

/** Stands for the leads of an earlier process, of which nothing is known. */
const EARLIER_PROCESS = -1;

/** Finds deposits that the lead does not show. */
export interface SecondPass {
  /**
   * Once a minute, another endpoint begins to read the range of the last minute again. What a quorum shows of
   * it is added to what the lead reads, until the caller has stored it and a whole second reading has
   * followed.
   * @param cursor after which the lead read
   * @param checked where the second readings of an earlier process had ended; absent: at `cursor`
   * @param listed what the lead shows
   * @param found what a quorum shows of it
   */
  complete(
    lead: number,
    { cursor, checked }: ReadAfter,
    listed: readonly DepositFact[],
    found: NonEvmArrivals,
  ): NonEvmArrivals;
}

/** Where a reading begins. */
export interface ReadAfter {
  readonly cursor: string | undefined;
  readonly checked?: string | undefined;
}

export interface SecondPassOptions {
  readonly order: Pick<EndpointOrder, "noteFault">;
  /** Monotonic ms. */
  readonly now: () => number;
  /** ms since epoch. */
  readonly epochMs: () => number;
  /** A key that is equal for equal deposits. */
  readonly textOf: (deposits: readonly DepositFact[]) => string;
  readonly confirm: ConfirmDeposits;
  /** Whether a quorum of endpoints has reached this block or, without block numbers, this time. */
  readonly hasReached: (upTo: NonEvmArrivals["upTo"]) => boolean;
  /** The endpoint did not show what a quorum shows. */
  readonly onHidden: (place: number) => void;
}

/** Second readings of what an earlier process did not check. */
interface Resumption {
  /** Where this process began to read. */
  readonly start: string;
  /** The time of the newest block then, Unix seconds, at most this computer's. */
  readonly until: bigint;
  failures: number;
}

/** A transaction that a quorum shows. */
interface Hidden {
  readonly readFrom: Start;
  readonly deposits: readonly DepositFact[];
  /** The number of second readings that had ended when the caller had stored it. */
  storedAt: number | undefined;
}

/** One range of second readings. */
interface Range {
  /** The deposits that were stored in the meantime. */
  readonly texts: Set<string>;
  readonly leads: Set<number>;
}

/** The newest reading of the lead. */
interface LeadReading {
  readonly cursor: string | undefined;
  readonly found: NonEvmArrivals;
  readonly listed: ReadonlySet<string>;
  readonly confirmed: ReadonlyMap<string, TransactionDeposits>;
  /** All deposits that were returned. */
  readonly returned: readonly string[];
}

/**
 * Keeps what it found in memory. After a restart it begins at `checked`, which is before everything that was
 * not stored.
 */
export function createSecondPass(
  connections: readonly Pick<NonEvmConnection, "arrivals">[],
  { order, now, epochMs, textOf, confirm, hasReached, onHidden }: SecondPassOptions,
): SecondPass {
  let from: Start | undefined;
  /** Second readings may show what an earlier process has stored. */
  let resuming: Resumption | undefined;
  /** Where the newest second reading ended. */
  let next: Pick<NonEvmArrivals, "cursor" | "upTo"> | undefined;
  /** The newest first. Three of them, because endpoints differ in how far they are. */
  let ranges: readonly [Range, ...Range[]] = [aRange()];
  let last: LeadReading | undefined;
  let ended = 0;
  let turn = 0;
  let reading: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  let fault: RpcFault | undefined;
  const open = createOpenDeposits(now, confirm);
  const hidden = new Map<string, Hidden>();

  const isStored = (text: string): boolean => ranges.some(({ texts }) => texts.has(text));

  /** The next endpoint other than the lead. */
  const checkerOf = (lead: number): number => {
    turn = (turn + 1) % connections.length;
    if (turn === lead) turn = (turn + 1) % connections.length;
    return turn;
  };

  const remember = (
    by: number,
    readFrom: Start,
    deposits: TransactionDeposits,
    upTo: NonEvmArrivals["upTo"],
  ): void => {
    const text = textOf(deposits);
    if (isStored(text) || hidden.has(text) || open.has(text)) return;
    const confirmed = last?.confirmed.get(text);
    if (confirmed !== undefined) {
      hidden.set(text, { readFrom, deposits: confirmed, storedAt: undefined });
      return;
    }
    fault = open.add(text, { by, readFrom, deposits, upTo }) ?? fault;
  };

  /** Names the only lead of these ranges if it does not show what a quorum shows. */
  const nameLead = (text: string, deposits: readonly DepositFact[]): void => {
    const [lead, other] = new Set(ranges.flatMap(({ leads }) => [...leads]));
    if (last === undefined || lead === undefined || other !== undefined || last.listed.has(text)) return;
    const { timestamp: until } = last.found.upTo;
    if (deposits.some(({ timestamp = 0n }) => timestamp + SPREAD_SECONDS < until)) onHidden(lead);
  };

  const confirmOpen = async (): Promise<void> => {
    await open.confirmAll((claim, { readFrom }, deposits) => {
      const text = textOf(deposits);
      // A quorum shows other deposits, or none.
      if (text !== claim) ranges[0].texts.add(claim);
      if (deposits.length === 0 || isStored(text) || hidden.has(text)) return;
      hidden.set(text, { readFrom, deposits, storedAt: undefined });
      nameLead(text, deposits);
    });
    fault ??= open.lateFault();
  };

  const readAgain = async (by: number, readFrom: Start): Promise<void> => {
    try {
      const again = await connections[by]?.arrivals(readFrom.cursor);
      if (again !== undefined) {
        for (const deposits of byTransaction(again.deposits)) remember(by, readFrom, deposits, again.upTo);
        next = again;
      }
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      // An endpoint that has not reached this range yet is not at fault.
      if (error.kind !== "inconsistent") order.noteFault(by, error);
    }
    await confirmOpen();
  };

  /** The caller has stored the last reading if it continues from its cursor. */
  const noteStored = (cursor: string | undefined): void => {
    if (last === undefined || cursor !== last.found.cursor || cursor === last.cursor) return;
    for (const text of last.returned) {
      ranges[0].texts.add(text);
      const one = hidden.get(text);
      if (one !== undefined) one.storedAt ??= ended;
    }
  };

  /** Everything before it was read twice, and stored if a quorum shows it. */
  const checkedTo = (): string | undefined => {
    const unstored = [...hidden.values()].filter(({ storedAt }) => storedAt === undefined);
    const all = [...open.heldAt(), ...unstored.map(({ readFrom }) => readFrom), ...(from ? [from] : [])];
    return all.toSorted((a, b) => a.sinceMs - b.sinceMs)[0]?.cursor;
  };

  const begin = (lead: number, start: string | undefined, { checked }: ReadAfter, newest: bigint): void => {
    if (from === undefined && start !== undefined) {
      from = { cursor: checked ?? start, sinceMs: now() };
      // The lead alone names the time: a future one is never reached.
      const nowSeconds = BigInt(Math.floor(epochMs() / 1_000));
      const until = newest < nowSeconds ? newest : nowSeconds;
      if (from.cursor !== start) resuming = { start, until, failures: 0 };
    }
    if (from === undefined || reading !== undefined || now() - from.sinceMs < EVERY_MS) return;
    const isReached = next !== undefined && hasReached(next.upTo);
    const reachedTime = next?.upTo.timestamp ?? 0n;
    if (isReached) ranges = [aRange(), ...ranges.slice(0, 2)];
    if (next === undefined && resuming !== undefined && ++resuming.failures > MAX_FAILURES) {
      from = { cursor: resuming.start, sinceMs: from.sinceMs };
      resuming = undefined;
      fault = inconsistent(QUESTION, "no endpoint reads what was not checked before the restart again");
    }
    from = { cursor: isReached && next !== undefined ? next.cursor : from.cursor, sinceMs: now() };
    if (resuming !== undefined) {
      ranges[0].leads.add(EARLIER_PROCESS);
      if (isReached && reachedTime >= resuming.until) resuming = undefined;
    }
    next = undefined;
    // A slow endpoint must not delay what the lead shows.
    reading = readAgain(checkerOf(lead), from)
      .catch((error: unknown) => void (failure = { error }))
      .finally(() => {
        ended++;
        reading = undefined;
      });
  };

  return {
    complete: (lead, after, listed, found) => {
      const { cursor } = after;
      noteStored(cursor);
      for (const [text, { storedAt }] of hidden)
        if (storedAt !== undefined && ended > storedAt + 1) hidden.delete(text);
      if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        throw error;
      }
      ranges[0].leads.add(lead);
      const textsOf = (all: readonly DepositFact[]) =>
        byTransaction(all).map((deposits) => [textOf(deposits), deposits] as const);
      const confirmed = new Map(textsOf(found.deposits));
      const added = [...hidden].filter(([text]) => !confirmed.has(text));
      const returned = [...confirmed.keys(), ...added.map(([text]) => text)];
      last = { cursor, found, listed: new Set(textsOf(listed).map(([text]) => text)), confirmed, returned };
      begin(lead, cursor ?? found.startedAt, after, found.upTo.timestamp);
      const checkedUpTo = checkedTo();
      const raised = found.fault ?? fault;
      if (raised === fault) fault = undefined;
      return {
        ...found,
        deposits: [...found.deposits, ...added.flatMap(([, { deposits }]) => deposits)],
        ...(checkedUpTo !== undefined && { checked: checkedUpTo }),
        ...(raised !== undefined && { fault: raised }),
      };
    },
  };
}

function aRange(): Range {
  return { texts: new Set(), leads: new Set() };
}
