import { inconsistent, RpcFault } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmArrivals, NonEvmConnection } from "./non-evm-connection.ts";
import { byTransaction, QUESTION, type TransactionDeposits } from "./non-evm-deposit-quorum.ts";
import { createOpenDeposits, type ConfirmDeposits, type Start } from "./non-evm-open-deposits.ts";

/** Interval between second readings, ms. */
const INTERVAL_MS = 60_000;
/** Total number of second readings from before a restart that may fail. */
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
   * @param confirmed what a quorum shows of it
   */
  complete(
    lead: number,
    { cursor, checked }: ReadAfter,
    listed: readonly DepositFact[],
    confirmed: NonEvmArrivals,
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
  readonly depositsKey: (deposits: readonly DepositFact[]) => string;
  readonly confirm: ConfirmDeposits;
  /** Whether a quorum of endpoints has reached this block or, without block numbers, this time. */
  readonly hasReached: (upTo: NonEvmArrivals["upTo"]) => boolean;
  /** The endpoint did not show what a quorum shows. */
  readonly onHidden: (index: number) => void;
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
interface HiddenDeposits {
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
  readonly arrivals: NonEvmArrivals;
  readonly listed: ReadonlySet<string>;
  readonly confirmed: ReadonlyMap<string, TransactionDeposits>;
  /** All deposits that were returned. */
  readonly returned: readonly string[];
}

/**
 * Keeps found deposits in memory. After a restart, second readings begin at `checked`, which is before
 * everything that was not stored.
 */
export function createSecondPass(
  connections: readonly Pick<NonEvmConnection, "arrivals">[],
  { order, now, epochMs, depositsKey, confirm, hasReached, onHidden }: SecondPassOptions,
): SecondPass {
  let currentStart: Start | undefined;
  /** Set while second readings may show what an earlier process has stored. */
  let resuming: Resumption | undefined;
  /** Where the newest second reading ended. */
  let next: Pick<NonEvmArrivals, "cursor" | "upTo"> | undefined;
  /** The newest first. Three of them, because endpoints differ in how far they are. */
  let ranges: readonly [Range, ...Range[]] = [createRange()];
  let lastReading: LeadReading | undefined;
  let endedReadings = 0;
  let checker = 0;
  let reading: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  let fault: RpcFault | undefined;
  const open = createOpenDeposits(now, confirm);
  const hidden = new Map<string, HiddenDeposits>();

  const isStored = (text: string): boolean => ranges.some(({ texts }) => texts.has(text));

  /** The next endpoint other than the lead. */
  const checkerOf = (lead: number): number => {
    checker = (checker + 1) % connections.length;
    if (checker === lead) checker = (checker + 1) % connections.length;
    return checker;
  };

  const recordShown = (
    endpoint: number,
    readFrom: Start,
    deposits: TransactionDeposits,
    upTo: NonEvmArrivals["upTo"],
  ): void => {
    const text = depositsKey(deposits);
    if (isStored(text) || hidden.has(text) || open.has(text)) return;
    const confirmed = lastReading?.confirmed.get(text);
    if (confirmed !== undefined) {
      hidden.set(text, { readFrom, deposits: confirmed, storedAt: undefined });
      return;
    }
    fault = open.add(text, { endpoint, readFrom, deposits, upTo }) ?? fault;
  };

  /** Reports the lead, if these ranges had only one and it does not show what a quorum shows. */
  const reportLead = (text: string, deposits: readonly DepositFact[]): void => {
    const [lead, otherLead] = new Set(ranges.flatMap(({ leads }) => [...leads]));
    if (
      lastReading === undefined ||
      lead === undefined ||
      otherLead !== undefined ||
      lastReading.listed.has(text)
    )
      return;
    const { timestamp: until } = lastReading.arrivals.upTo;
    if (deposits.some(({ timestamp = 0n }) => timestamp + SPREAD_SECONDS < until)) onHidden(lead);
  };

  const confirmOpen = async (): Promise<void> => {
    await open.confirmAll((claim, { readFrom }, deposits) => {
      const text = depositsKey(deposits);
      // A quorum shows other deposits, or none.
      if (text !== claim) ranges[0].texts.add(claim);
      if (deposits.length === 0 || isStored(text) || hidden.has(text)) return;
      hidden.set(text, { readFrom, deposits, storedAt: undefined });
      reportLead(text, deposits);
    });
    fault ??= open.lateFault();
  };

  const readAgain = async (endpoint: number, readFrom: Start): Promise<void> => {
    try {
      const reread = await connections[endpoint]?.arrivals(readFrom.cursor);
      if (reread !== undefined) {
        for (const deposits of byTransaction(reread.deposits))
          recordShown(endpoint, readFrom, deposits, reread.upTo);
        next = reread;
      }
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      // An endpoint that has not reached this range yet is not at fault.
      if (error.kind !== "inconsistent") order.noteFault(endpoint, error);
    }
    await confirmOpen();
  };

  /** The caller has stored the last reading if it now reads from that reading's cursor. */
  const noteStored = (cursor: string | undefined): void => {
    if (lastReading === undefined || cursor !== lastReading.arrivals.cursor || cursor === lastReading.cursor)
      return;
    for (const text of lastReading.returned) {
      ranges[0].texts.add(text);
      const hiddenEntry = hidden.get(text);
      if (hiddenEntry !== undefined) hiddenEntry.storedAt ??= endedReadings;
    }
  };

  /** The cursor before which everything was read twice, and stored if a quorum shows it. */
  const checkedCursor = (): string | undefined => {
    const unstored = [...hidden.values()].filter(({ storedAt }) => storedAt === undefined);
    const starts = [
      ...open.blockingStarts(),
      ...unstored.map(({ readFrom }) => readFrom),
      ...(currentStart ? [currentStart] : []),
    ];
    return starts.toSorted((a, b) => a.sinceMs - b.sinceMs)[0]?.cursor;
  };

  const begin = (lead: number, start: string | undefined, { checked }: ReadAfter, newest: bigint): void => {
    if (currentStart === undefined && start !== undefined) {
      currentStart = { cursor: checked ?? start, sinceMs: now() };
      // The lead alone names the time: a future one is never reached.
      const nowSeconds = BigInt(Math.floor(epochMs() / 1_000));
      const until = newest < nowSeconds ? newest : nowSeconds;
      if (currentStart.cursor !== start) resuming = { start, until, failures: 0 };
    }
    if (currentStart === undefined || reading !== undefined || now() - currentStart.sinceMs < INTERVAL_MS)
      return;
    const isReached = next !== undefined && hasReached(next.upTo);
    const reachedTime = next?.upTo.timestamp ?? 0n;
    if (isReached) ranges = [createRange(), ...ranges.slice(0, 2)];
    if (next === undefined && resuming !== undefined && ++resuming.failures > MAX_FAILURES) {
      currentStart = { cursor: resuming.start, sinceMs: currentStart.sinceMs };
      resuming = undefined;
      fault = inconsistent(QUESTION, "no endpoint reads what was not checked before the restart again");
    }
    currentStart = {
      cursor: isReached && next !== undefined ? next.cursor : currentStart.cursor,
      sinceMs: now(),
    };
    if (resuming !== undefined) {
      ranges[0].leads.add(EARLIER_PROCESS);
      if (isReached && reachedTime >= resuming.until) resuming = undefined;
    }
    next = undefined;
    // A slow endpoint must not delay what the lead shows.
    reading = readAgain(checkerOf(lead), currentStart)
      .catch((error: unknown) => void (failure = { error }))
      .finally(() => {
        endedReadings++;
        reading = undefined;
      });
  };

  return {
    complete: (lead, after, listed, arrivals) => {
      const { cursor } = after;
      noteStored(cursor);
      for (const [text, { storedAt }] of hidden)
        if (storedAt !== undefined && endedReadings > storedAt + 1) hidden.delete(text);
      if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        throw error;
      }
      ranges[0].leads.add(lead);
      const textsOf = (facts: readonly DepositFact[]) =>
        byTransaction(facts).map((deposits) => [depositsKey(deposits), deposits] as const);
      const confirmed = new Map(textsOf(arrivals.deposits));
      const added = [...hidden].filter(([text]) => !confirmed.has(text));
      const returned = [...confirmed.keys(), ...added.map(([text]) => text)];
      lastReading = {
        cursor,
        arrivals,
        listed: new Set(textsOf(listed).map(([text]) => text)),
        confirmed,
        returned,
      };
      begin(lead, cursor ?? arrivals.startedAt, after, arrivals.upTo.timestamp);
      const checkedUpTo = checkedCursor();
      const raised = arrivals.fault ?? fault;
      if (raised === fault) fault = undefined;
      return {
        ...arrivals,
        deposits: [...arrivals.deposits, ...added.flatMap(([, { deposits }]) => deposits)],
        ...(checkedUpTo !== undefined && { checked: checkedUpTo }),
        ...(raised !== undefined && { fault: raised }),
      };
    },
  };
}

function createRange(): Range {
  return { texts: new Set(), leads: new Set() };
}
