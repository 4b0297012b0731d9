import { inconsistent, type RpcFault } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import type { NonEvmArrivals } from "./non-evm-connection.ts";
import { LATE_MS, QUESTION, type TransactionDeposits, type Verdict } from "./non-evm-deposit-quorum.ts";

/** Transactions that are confirmed at the same time. */
const AT_ONCE = 8;
/** Maximum number of transactions to remember for each endpoint that shows them. */
const MAX_OPEN = 200;
/** How often a transaction that a quorum of other endpoints does not have is confirmed again. */
const MAX_REFUTED = 10;
/**
 * How long an open transaction stops the checked cursor, ms. Limited, because an endpoint could invent one,
 * and a restart reads everything after the cursor.
 */
const MAX_HELD_MS = 86_400_000;

/** Where a second reading began, and when. */
export interface Start {
  readonly cursor: string;
  /** Monotonic ms. */
  readonly sinceMs: number;
}

/** A transaction that a second reading showed. */
export interface Shown {
  readonly readFrom: Start;
  /** Index of the endpoint that shows it. */
  readonly by: number;
  readonly deposits: TransactionDeposits;
  readonly upTo: NonEvmArrivals["upTo"];
}

interface Open extends Shown {
  readonly sinceMs: number;
  /** When a fault last named this transaction. */
  reportedAtMs: number;
  refutations: number;
}

/** Asks the other endpoints about a transaction that the endpoint with the index `place` shows. */
export type ConfirmDeposits = (
  place: number,
  deposits: TransactionDeposits,
  upTo: NonEvmArrivals["upTo"],
) => Promise<Verdict>;

/** Transactions that one endpoint shows, and no quorum yet. */
export interface OpenDeposits {
  has(text: string): boolean;
  /** @returns a fault if the endpoint's oldest open transaction was dropped to make room */
  add(text: string, shown: Shown): RpcFault | undefined;
  /** @param onConfirmed gets what a quorum shows instead of `text` */
  confirmAll(
    onConfirmed: (text: string, one: Shown, deposits: readonly DepositFact[]) => void,
  ): Promise<void>;
  /** A fault for the late transaction whose last fault is the oldest; undefined if none is late. */
  lateFault(): RpcFault | undefined;
  /** Where a restart must read again, one start for each transaction that stops the cursor. */
  heldAt(): readonly Start[];
}

/** @param now monotonic ms */
export function createOpenDeposits(now: () => number, confirm: ConfirmDeposits): OpenDeposits {
  const open = new Map<string, Open>();
  const isHeld = ({ sinceMs }: Open): boolean => now() - sinceMs < MAX_HELD_MS;

  return {
    has: (text) => open.has(text),
    add: (text, shown) => {
      const own = [...open].filter(([, { by }]) => by === shown.by);
      const [oldest] = own;
      const isFull = own.length >= MAX_OPEN && oldest !== undefined;
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
      const all = [...open];
      const confirmOne = async ([text, one]: (typeof all)[number]): Promise<void> => {
        const verdict = await confirm(one.by, one.deposits, one.upTo);
        if ("deposits" in verdict) {
          open.delete(text);
          onConfirmed(text, one, verdict.deposits);
          return;
        }
        if (verdict.claim.isRefuted) one.refutations++;
        if (one.refutations >= MAX_REFUTED) open.delete(text);
      };
      for (let at = 0; at < all.length; at += AT_ONCE)
        await Promise.all(all.slice(at, at + AT_ONCE).map(confirmOne));
    },
    lateFault: () => {
      const [late] = [...open.values()]
        .filter(({ sinceMs, refutations }) => refutations === 0 && now() - sinceMs >= LATE_MS)
        .toSorted((a, b) => (a.reportedAtMs < b.reportedAtMs ? -1 : a.reportedAtMs > b.reportedAtMs ? 1 : 0));
      if (late === undefined) return undefined;
      late.reportedAtMs = now();
      const what = `the deposit of transaction ${late.deposits[0].txHash} waits for a quorum of endpoints`;
      return inconsistent(
        QUESTION,
        isHeld(late) ? what : `${what} for more than a day; after a restart it counts only if it is reported`,
      );
    },
    heldAt: () => [...open.values()].filter(isHeld).map(({ readFrom }) => readFrom),
  };
}
