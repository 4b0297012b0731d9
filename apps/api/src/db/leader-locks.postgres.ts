import type { Lead, Leadership, WorkedAgo } from "./leadership.port.ts";
import { openLockSession, type LockSession, type LockTiming } from "./lock-session.postgres.ts";

/**
 * A standby leads at most `sessionIdleMs` + `beatMs` (4 s) after the leader's last heartbeat. A leader that
 * gets no answer stops a second before the server releases its locks.
 */
export const LEADER_TIMING: LockTiming = { beatMs: 500, leaseMs: 2_500, sessionIdleMs: 3_500 };

export interface LeaderLocks {
  readonly lead: Lead;
  readonly workedAgoMs: WorkedAgo;
  close(): Promise<void>;
}

interface HeldLock {
  readonly session: LockSession;
  workedAtMs: number;
}

interface Waiter {
  readonly name: string;
  readonly start: (leadership: Leadership) => void;
}

/**
 * All leader locks of this process, on one connection. If the connection is lost, so are the locks: every led
 * task stops, and any process may lead it next.
 */
export function leaderLocks(
  databaseUrl: string,
  {
    onFault,
    timing = LEADER_TIMING,
  }: { readonly onFault: (error: unknown) => void; readonly timing?: LockTiming },
): LeaderLocks {
  const closing = new AbortController();
  const waiters = new Set<Waiter>();
  const held = new Map<string, HeldLock>();
  let shouldWake = false;
  let wake = (): void => {};
  const notify = (): void => {
    shouldWake = true;
    wake();
  };

  /** Waits for the next heartbeat; a new waiter or a released lock ends the wait. */
  async function pause(): Promise<void> {
    if (!shouldWake && !closing.signal.aborted)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timing.beatMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    shouldWake = false;
  }

  async function beat(session: LockSession): Promise<void> {
    // Session locks are reentrant: request a name once, and not while it is held.
    const requested = new Map<string, Waiter>();
    for (const waiter of waiters)
      if (!held.has(waiter.name) && !requested.has(waiter.name)) requested.set(waiter.name, waiter);
    for (const name of await session.take([...requested.keys()])) {
      const waiter = requested.get(name);
      if (waiter === undefined || !waiters.delete(waiter)) {
        await session.release(name);
        continue;
      }
      const lock: HeldLock = { session, workedAtMs: performance.now() };
      held.set(name, lock);
      waiter.start({
        lost: session.lost,
        reportWork: () => {
          lock.workedAtMs = performance.now();
        },
        async release(): Promise<void> {
          if (held.get(name) !== lock) return;
          if (!session.lost.aborted) await session.release(name).catch(() => undefined);
          if (held.get(name) === lock) held.delete(name);
          notify();
        },
      });
    }
  }

  async function holdSession(): Promise<void> {
    const session = await openLockSession(databaseUrl, timing);
    session.lost.addEventListener("abort", notify, { once: true });
    try {
      while (!closing.signal.aborted) {
        await beat(session);
        await pause();
      }
    } finally {
      session.end();
      held.clear();
    }
  }

  const loop = (async () => {
    while (!closing.signal.aborted) {
      await holdSession().catch(onFault);
      shouldWake = false;
      await pause();
    }
  })();

  return {
    lead: (name, stop) =>
      new Promise((resolve) => {
        if (stop.aborted || closing.signal.aborted) return resolve(undefined);
        const giveUp = (): void => {
          waiters.delete(waiter);
          resolve(undefined);
        };
        const canceled = AbortSignal.any([stop, closing.signal]);
        const waiter: Waiter = {
          name,
          start: (leadership) => {
            canceled.removeEventListener("abort", giveUp);
            resolve(leadership);
          },
        };
        canceled.addEventListener("abort", giveUp, { once: true });
        waiters.add(waiter);
        notify();
      }),
    workedAgoMs(name): number | undefined {
      const lock = held.get(name);
      if (lock === undefined || lock.session.lost.aborted) return undefined;
      return performance.now() - lock.workedAtMs;
    },
    async close(): Promise<void> {
      closing.abort();
      notify();
      await loop;
    },
  };
}
