import { inconsistent, RpcFault } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmArrivals, NonEvmConnection } from "./non-evm-connection.ts";
import {
  byTransaction,
  LATE_MS,
  QUESTION,
  type TransactionDeposits,
  type Verdict,
} from "./non-evm-deposit-quorum.ts";

/** Interval of second readings, ms. */
const EVERY_MS = 60_000;
/** Transactions that are confirmed at the same time. */
const AT_ONCE = 8;
/** Maximum number of unconfirmed transactions to remember for each endpoint that shows them. */
const MAX_OPEN = 200;
/** How often a transaction that a quorum of other endpoints does not have is confirmed again. */
const MAX_REFUTED = 10;
/** Seconds until all endpoints show a transaction. */
const SPREAD_SECONDS = 30n;

/** Finds deposits that the lead does not show. */
export interface SecondPass {
  /**
   * Once a minute, another endpoint begins to read the range of the last minute again. What a quorum shows of
   * it is added to what the lead reads, until the caller has stored it and a whole second reading has
   * followed.
   * @param cursor after which the lead read
   * @param listed what the lead shows
   * @param found what a quorum shows of it
   */
  complete(
    lead: number,
    cursor: string | undefined,
    listed: readonly DepositFact[],
    found: NonEvmArrivals,
  ): NonEvmArrivals;
}

export interface SecondPassOptions {
  readonly order: Pick<EndpointOrder, "noteFault">;
  /** Monotonic ms. */
  readonly now: () => number;
  /** A key that is equal for equal deposits. */
  readonly textOf: (deposits: readonly DepositFact[]) => string;
  /** Asks the others about a transaction that this endpoint shows. */
  readonly confirm: (
    place: number,
    deposits: TransactionDeposits,
    upTo: NonEvmArrivals["upTo"],
  ) => Promise<Verdict>;
  /** Whether a quorum of endpoints has reached this block. */
  readonly hasReached: (number: bigint) => boolean;
  /** The endpoint did not show what a quorum shows. */
  readonly onHidden: (place: number) => void;
}

/** A transaction that no quorum shows yet. */
interface Open {
  /** The endpoint that shows it. */
  readonly by: number;
  readonly deposits: TransactionDeposits;
  readonly upTo: NonEvmArrivals["upTo"];
  readonly sinceMs: number;
  refutations: number;
}

/** A transaction that a quorum shows. */
interface Hidden {
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

/** Keeps its position in memory: after a restart it begins at the cursor. */
export function createSecondPass(
  connections: readonly Pick<NonEvmConnection, "arrivals">[],
  { order, now, textOf, confirm, hasReached, onHidden }: SecondPassOptions,
): SecondPass {
  let from: { readonly cursor: string; readonly sinceMs: number } | undefined;
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
  const open = new Map<string, Open>();
  const hidden = new Map<string, Hidden>();

  const isStored = (text: string): boolean => ranges.some(({ texts }) => texts.has(text));

  /** The next endpoint other than the lead. */
  const checkerOf = (lead: number): number => {
    turn = (turn + 1) % connections.length;
    if (turn === lead) turn = (turn + 1) % connections.length;
    return turn;
  };

  const remember = (by: number, deposits: TransactionDeposits, upTo: NonEvmArrivals["upTo"]): void => {
    const text = textOf(deposits);
    if (isStored(text) || hidden.has(text) || open.has(text)) return;
    const confirmed = last?.confirmed.get(text);
    if (confirmed !== undefined) {
      hidden.set(text, { deposits: confirmed, storedAt: undefined });
      return;
    }
    const own = [...open].filter(([, one]) => one.by === by);
    const [oldest] = own;
    if (own.length >= MAX_OPEN && oldest !== undefined) {
      open.delete(oldest[0]);
      const [{ txHash }] = oldest[1].deposits;
      fault = inconsistent(
        QUESTION,
        `no quorum of endpoints shows the deposit of transaction ${txHash}; it counts only if it is reported`,
      );
    }
    open.set(text, { by, deposits, upTo, sinceMs: now(), refutations: 0 });
  };

  /** Names the only lead of these ranges if it does not show what a quorum shows. */
  const nameLead = (text: string, deposits: readonly DepositFact[]): void => {
    const [lead, other] = new Set(ranges.flatMap(({ leads }) => [...leads]));
    if (last === undefined || lead === undefined || other !== undefined || last.listed.has(text)) return;
    const { timestamp: until } = last.found.upTo;
    if (deposits.some(({ timestamp = 0n }) => timestamp + SPREAD_SECONDS < until)) onHidden(lead);
  };

  const confirmOne = async (claim: string, one: Open): Promise<void> => {
    const shown = await confirm(one.by, one.deposits, one.upTo);
    if (!("deposits" in shown)) {
      if (shown.claim.isRefuted) one.refutations++;
      if (one.refutations >= MAX_REFUTED) open.delete(claim);
      return;
    }
    open.delete(claim);
    const text = textOf(shown.deposits);
    // A quorum shows other deposits, or none.
    if (text !== claim) ranges[0].texts.add(claim);
    if (shown.deposits.length === 0 || isStored(text) || hidden.has(text)) return;
    hidden.set(text, { deposits: shown.deposits, storedAt: undefined });
    nameLead(text, shown.deposits);
  };

  const confirmOpen = async (): Promise<void> => {
    const all = [...open];
    for (let at = 0; at < all.length; at += AT_ONCE)
      await Promise.all(all.slice(at, at + AT_ONCE).map(async (one) => await confirmOne(...one)));
    const late = [...open.values()].find(
      ({ sinceMs, refutations }) => refutations === 0 && now() - sinceMs >= LATE_MS,
    );
    if (late === undefined) return;
    const [{ txHash }] = late.deposits;
    fault ??= inconsistent(QUESTION, `the deposit of transaction ${txHash} waits for a quorum of endpoints`);
  };

  const readAgain = async (by: number, cursor: string): Promise<void> => {
    try {
      const again = await connections[by]?.arrivals(cursor);
      if (again !== undefined) {
        for (const deposits of byTransaction(again.deposits)) remember(by, deposits, again.upTo);
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

  const begin = (lead: number, start: string | undefined): void => {
    if (from === undefined && start !== undefined) from = { cursor: start, sinceMs: now() };
    if (from === undefined || reading !== undefined || now() - from.sinceMs < EVERY_MS) return;
    const isReached = next !== undefined && hasReached(next.upTo.number);
    if (isReached) ranges = [aRange(), ...ranges.slice(0, 2)];
    from = { cursor: isReached && next !== undefined ? next.cursor : from.cursor, sinceMs: now() };
    next = undefined;
    // A slow endpoint must not delay what the lead shows.
    reading = readAgain(checkerOf(lead), from.cursor)
      .catch((error: unknown) => void (failure = { error }))
      .finally(() => {
        ended++;
        reading = undefined;
      });
  };

  return {
    complete: (lead, cursor, listed, found) => {
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
      begin(lead, cursor ?? found.startedAt);
      const raised = found.fault ?? fault;
      if (raised === fault) fault = undefined;
      return {
        ...found,
        deposits: [...found.deposits, ...added.flatMap(([, { deposits }]) => deposits)],
        ...(raised !== undefined && { fault: raised }),
      };
    },
  };
}

function aRange(): Range {
  return { texts: new Set(), leads: new Set() };
}
