import { ServiceError } from "@causeway/domain";
import { LockTimeout } from "./lock-timeout.port.ts";
import type { UnitOfWork } from "./unit-of-work.port.ts";

/**
 * The report was not recorded, because others were first or its chain was being scanned. It can be repeated.
 */
export class ReportsBusy extends ServiceError {
  constructor(chainId: number, cause?: LockTimeout) {
    super("SERVICE_UNAVAILABLE", `Too many transactions of chain ${chainId} are being recorded; try again`, {
      cause,
      data: { chainId },
    });
    this.name = "ReportsBusy";
  }
}

export interface ReportLimits {
  /** Maximum concurrent transactions: each uses one of the connections that all routes share. */
  readonly maxConcurrent: number;
  /**
   * Maximum concurrent transactions of one chain: they wait for the same row, so more of them would only
   * hold connections.
   */
  readonly maxPerChain: number;
  /** Maximum number of waiting reports of one caller; more are refused at once. */
  readonly maxWaitingPerCaller: number;
  /** How long a report waits to be admitted. */
  readonly maxWaitMs: number;
  /** Maximum wait for a row that another transaction has locked. */
  readonly lockTimeoutMs: number;
}

export const REPORT_LIMITS: ReportLimits = {
  maxConcurrent: 4,
  maxPerChain: 2,
  maxWaitingPerCaller: 32,
  maxWaitMs: 2_000,
  lockTimeoutMs: 1_000,
};

/**
 * Turns for reports that lock only the row of their request. Each takes milliseconds, and no scan finds the
 * reported payment, so a burst waits instead of being refused.
 */
export const REQUEST_REPORT_LIMITS: ReportLimits = {
  maxConcurrent: 4,
  maxPerChain: 4,
  maxWaitingPerCaller: 512,
  maxWaitMs: 5_000,
  lockTimeoutMs: 1_000,
};

/** The caller of a report, and the chain of its transaction. */
export interface Reporter {
  readonly caller: string;
  readonly chainId: number;
}

interface Waiting {
  readonly chainId: number;
  readonly start: () => void;
}

/**
 * Admits a few reports to the database at a time, callers in turn, so that neither a chain whose cursor is
 * locked nor a caller with many reports blocks other reports or routes.
 * @returns the unit of work for a reporter; throws {@link ReportsBusy} if it is not admitted in time, or a
 * row stays locked
 */
export function createReportTurns(
  uow: UnitOfWork,
  limits: ReportLimits = REPORT_LIMITS,
): (reporter: Reporter) => UnitOfWork {
  // Callers in the order of their turns.
  const queues = new Map<string, Waiting[]>();
  const running = new Map<number, number>();
  let total = 0;

  const isFree = (chainId: number): boolean =>
    total < limits.maxConcurrent && (running.get(chainId) ?? 0) < limits.maxPerChain;

  const remove = (caller: string, report: Waiting): void => {
    const remaining = (queues.get(caller) ?? []).filter((waiting) => waiting !== report);
    if (remaining.length > 0) queues.set(caller, remaining);
    else queues.delete(caller);
  };

  const startNext = (): void => {
    for (const [caller, queue] of queues) {
      const next = queue.find(({ chainId }) => isFree(chainId));
      if (next === undefined) continue;
      remove(caller, next);
      // Move the caller behind all others.
      const remaining = queues.get(caller);
      queues.delete(caller);
      if (remaining !== undefined) queues.set(caller, remaining);
      next.start();
      return;
    }
  };

  const takeTurn = (caller: string, chainId: number): Promise<void> => {
    const start = (): void => {
      total += 1;
      running.set(chainId, (running.get(chainId) ?? 0) + 1);
    };
    if (isFree(chainId)) {
      start();
      return Promise.resolve();
    }
    const queue = queues.get(caller) ?? [];
    if (queue.length >= limits.maxWaitingPerCaller) return Promise.reject(new ReportsBusy(chainId));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        remove(caller, waiting);
        reject(new ReportsBusy(chainId));
      }, limits.maxWaitMs);
      const waiting: Waiting = {
        chainId,
        start: () => {
          clearTimeout(timer);
          start();
          resolve();
        },
      };
      queues.set(caller, [...queue, waiting]);
    });
  };

  const endTurn = (chainId: number): void => {
    total -= 1;
    const remaining = (running.get(chainId) ?? 1) - 1;
    if (remaining > 0) running.set(chainId, remaining);
    else running.delete(chainId);
    startNext();
  };

  return ({ caller, chainId }) => ({
    async run(work) {
      await takeTurn(caller, chainId);
      try {
        return await uow.run(work, { lockTimeoutMs: limits.lockTimeoutMs });
      } catch (error) {
        throw error instanceof LockTimeout ? new ReportsBusy(chainId, error) : error;
      } finally {
        endTurn(chainId);
      }
    },
  });
}
