import { inconsistent, type RpcFault } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import type { NonEvmArrivals } from "./non-evm-connection.ts";
import { LATE_MS, QUESTION, type TransactionDeposits, type Verdict } from "./non-evm-deposit-quorum.ts";

/** Maximum transactions that are confirmed concurrently. */
const MAX_CONCURRENT = 8;
/** Maximum number of open transactions per endpoint that shows them. */
const MAX_OPEN = 200;
/** After this many tries, a transaction that a quorum of other endpoints does not have is dropped. */
const MAX_REFUTED = 10;
/**
 * How long an open transaction stops the checked cursor, ms. Limited, because an endpoint could invent one,
 * and a restart reads everything after the cursor.
 */
const MAX_BLOCKING_MS = 86_400_000;

/** Where a second reading began, and when. */
export interface Start {
  readonly cursor: string;
  /** Monotonic ms. */
  readonly sinceMs: number;
}

/** A transaction that a second reading showed. */
export interface ShownDeposits {
  readonly readFrom: Start;
  /** Index of the endpoint that shows it. */
  readonly endpoint: number;
  readonly deposits: TransactionDeposits;
  readonly upTo: NonEvmArrivals["upTo"];
}

interface OpenDeposit extends ShownDeposits {
  readonly sinceMs: number;
  /** When a fault last named this transaction. */
  reportedAtMs: number;
  refutations: number;
}

/** Asks the other endpoints about a transaction that the endpoint with this index shows. */
export type ConfirmDeposits = (
  index: number,
  deposits: TransactionDeposits,
  upTo: NonEvmArrivals["upTo"],
) => Promise<Verdict>;

/** Transactions that one endpoint shows, and no quorum yet. */
export interface OpenDeposits {
  has(text: string): boolean;
  /** @returns a fault if the endpoint's oldest open transaction was dropped to make room */
  add(text: string, shown: ShownDeposits): RpcFault | undefined;
  /** @param onConfirmed gets what a quorum shows instead of `text` */
  confirmAll(
    onConfirmed: (text: string, shown: ShownDeposits, deposits: readonly DepositFact[]) => void,
  ): Promise<void>;
  /** A fault for the late transaction whose last fault is the oldest; undefined if none is late. */
  lateFault(): RpcFault | undefined;
  /** Where a restart must read again, one start for each transaction that stops the cursor. */
  blockingStarts(): readonly Start[];
}

/** @param now monotonic ms */
export function createOpenDeposits(now: () => number, confirm: ConfirmDeposits): OpenDeposits {
  const open = new Map<string, OpenDeposit>();
  const isBlocking = ({ sinceMs }: OpenDeposit): boolean => now() - sinceMs < MAX_BLOCKING_MS;

  return {
    has: (text) => open.has(text),
    add: (text, shown) => {
      const ofEndpoint = [...open].filter(([, { endpoint }]) => endpoint === shown.endpoint);
      const [oldest] = ofEndpoint;
      const isFull = ofEndpoint.length >= MAX_OPEN && oldest !== undefined;
      if (isFull) open.delete(oldest[0]);
      open.set(text, {
        ...shown,
        sinceMs: now(),
        reportedAtMs: Number.NEGATIVE_INFINITY,
        refutations: 0,
      });
      if (!isFull) return undefined;
      const [{ txHash }] = oldest[1].deposits;
      return inconsistent(
        QUESTION,
        `no quorum of endpoints shows the deposit of transaction ${txHash}; it counts only if it is reported`,
      );
    },
    confirmAll: async (onConfirmed) => {
      const entries = [...open];
      const confirmOne = async ([text, shown]: (typeof entries)[number]): Promise<void> => {
        const verdict = await confirm(shown.endpoint, shown.deposits, shown.upTo);
        if ("deposits" in verdict) {
          open.delete(text);
          onConfirmed(text, shown, verdict.deposits);
          return;
        }
        if (verdict.claim.isRefuted) shown.refutations++;
        if (shown.refutations >= MAX_REFUTED) open.delete(text);
      };
      for (let start = 0; start < entries.length; start += MAX_CONCURRENT)
        await Promise.all(entries.slice(start, start + MAX_CONCURRENT).map(confirmOne));
    },
    lateFault: () => {
      const [late] = [...open.values()]
        .filter(({ sinceMs, refutations }) => refutations === 0 && now() - sinceMs >= LATE_MS)
        .toSorted((a, b) => (a.reportedAtMs < b.reportedAtMs ? -1 : a.reportedAtMs > b.reportedAtMs ? 1 : 0));
      if (late === undefined) return undefined;
      late.reportedAtMs = now();
      const reason = `the deposit of transaction ${late.deposits[0].txHash} waits for a quorum of endpoints`;
      return inconsistent(
        QUESTION,
        isBlocking(late)
          ? reason
          : `${reason} for more than a day; after a restart it counts only if it is reported`,
      );
    },
    blockingStarts: () => [...open.values()].filter(isBlocking).map(({ readFrom }) => readFrom),
  };
}
