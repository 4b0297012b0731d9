import { RpcFault } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmArrivals, NonEvmConnection } from "./non-evm-connection.ts";

/** Interval of second readings, ms. */
const EVERY_MS = 60_000;
/** How often a range is read again because a quorum does not show a deposit in it yet. */
const MAX_TRIES = 10;
/** Seconds until all endpoints show a transaction. */
const SPREAD_SECONDS = 30n;

/** All deposits of one transaction. */
export type TransactionDeposits = readonly [DepositFact, ...DepositFact[]];

/** Finds deposits that the lead does not show. */
export interface SecondPass {
  /**
   * Once a minute, another endpoint begins to read the range of the last minute again. What a quorum shows of
   * it is added to what the lead reads next.
   * @param cursor after which the lead read
   */
  complete(lead: number, cursor: string | undefined, found: NonEvmArrivals): Promise<NonEvmArrivals>;
}

export interface SecondPassOptions {
  readonly order: EndpointOrder;
  /** Monotonic ms. */
  readonly now: () => number;
  /** Equal for equal deposits. */
  readonly textOf: (deposits: readonly DepositFact[]) => string;
  /** What a quorum shows of a transaction that this endpoint shows; undefined: none does now. */
  readonly confirm: (
    place: number,
    deposits: TransactionDeposits,
    upTo: NonEvmArrivals["upTo"],
  ) => Promise<readonly DepositFact[] | undefined>;
  /** The endpoint did not show what a quorum shows. */
  readonly onHidden: (place: number) => void;
}

/** Keeps its position in memory: after a restart it begins at the cursor. */
export function createSecondPass(
  connections: readonly Pick<NonEvmConnection, "arrivals">[],
  { order, now, textOf, confirm, onHidden }: SecondPassOptions,
): SecondPass {
  let from: { readonly cursor: string; readonly sinceMs: number; readonly tries: number } | undefined;
  /** What was returned in this range and in the one before: endpoints differ in how far they are. */
  let known: readonly [current: Set<string>, former: Set<string>] = [new Set(), new Set()];
  let turn = 0;
  let reading: Promise<void> | undefined;
  let read: { readonly by: number; readonly again: NonEvmArrivals } | undefined;
  let failure: { readonly error: unknown } | undefined;

  /** The next endpoint other than the lead. */
  const checkerOf = (lead: number): number => {
    turn = (turn + 1) % connections.length;
    if (turn === lead) turn = (turn + 1) % connections.length;
    return turn;
  };

  const readAgain = async (by: number, cursor: string): Promise<void> => {
    try {
      const again = await connections[by]?.arrivals(cursor);
      if (again !== undefined) read = { by, again };
    } catch (error) {
      if (error instanceof RpcFault) order.noteFault(by, error);
      else failure = { error };
    }
  };

  /** The deposits of a second reading that were not returned yet. */
  const hiddenIn = async (
    { by, again }: NonNullable<typeof read>,
    lead: number,
    upTo: NonEvmArrivals["upTo"],
  ): Promise<readonly DepositFact[]> => {
    const hidden: DepositFact[] = [];
    let isComplete = true;
    for (const deposits of byTransaction(again.deposits)) {
      const text = textOf(deposits);
      if (known.some((texts) => texts.has(text))) continue;
      const shown = await confirm(by, deposits, again.upTo);
      if (shown === undefined) {
        isComplete = false;
        continue;
      }
      known[0].add(text);
      hidden.push(...shown);
      if (shown.some(({ timestamp = 0n }) => timestamp + SPREAD_SECONDS < upTo.timestamp)) onHidden(lead);
    }
    if (from !== undefined && (isComplete || from.tries >= MAX_TRIES)) {
      from = { ...from, cursor: again.cursor, tries: 0 };
      known = [new Set(), known[0]];
    }
    return hidden;
  };

  return {
    complete: async (lead, cursor, found) => {
      for (const deposits of byTransaction(found.deposits)) known[0].add(textOf(deposits));
      if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        throw error;
      }
      const start = cursor ?? found.startedAt;
      if (from === undefined && start !== undefined) from = { cursor: start, sinceMs: now(), tries: 0 };
      const result = read;
      read = undefined;
      const hidden = result === undefined ? [] : await hiddenIn(result, lead, found.upTo);
      if (from !== undefined && reading === undefined && now() - from.sinceMs >= EVERY_MS) {
        from = { ...from, sinceMs: now(), tries: from.tries + 1 };
        // A slow endpoint must not delay what the lead shows.
        reading = readAgain(checkerOf(lead), from.cursor).finally(() => (reading = undefined));
      }
      return hidden.length === 0 ? found : { ...found, deposits: [...found.deposits, ...hidden] };
    },
  };
}

export function byTransaction(deposits: readonly DepositFact[]): readonly TransactionDeposits[] {
  const groups = new Map<string, [DepositFact, ...DepositFact[]]>();
  for (const deposit of deposits) {
    const group = groups.get(deposit.txHash);
    if (group === undefined) groups.set(deposit.txHash, [deposit]);
    else group.push(deposit);
  }
  return [...groups.values()];
}
