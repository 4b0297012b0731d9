import type { RequestId } from "@causeway/domain";
import type { Clock } from "../db/clock.port.ts";
import type { MaybePromise } from "@causeway/domain";
import type { StatusView } from "./status-view.port.ts";
import type { StatusFeed } from "./status-feed.port.ts";

/**
 * How long a status is given that may still change, ms. The feed makes it forgotten when it does: this is the
 * net beneath.
 */
const OPEN_KEPT_MS = 10_000;
/** The same for one that has ended for good, ms. */
const FINAL_KEPT_MS = 60_000;
/** The same while changes may go unheard, ms. */
const UNHEARD_KEPT_MS = 1_000;

interface Kept {
  readonly view: StatusView;
  readonly sinceMs: number;
}

export interface KeepingPolicy {
  /** Statuses that are kept at most. */
  readonly limit: number;
  /** Changes are heard if the feed's last sign of life is no older, ms. */
  readonly heardWithinMs: number;
}

/**
 * Statuses that were read are kept until the feed says that they changed: clients ask for the same one every
 * second. What changed is forgotten milliseconds after its commit, by whichever process it was made; an
 * unknown id is never kept. A status that was being read while it changed is not kept either: nobody knows
 * which of the two was read.
 */
export function keptStatuses(
  feed: Pick<StatusFeed, "onChange" | "heardUpToMs">,
  clock: Clock,
  read: (requestId: RequestId) => Promise<StatusView | undefined>,
  { limit, heardWithinMs }: KeepingPolicy,
): (requestId: RequestId) => MaybePromise<StatusView | undefined> {
  const kept = new Map<RequestId, Kept>();
  /** Being read now; what changes meanwhile is taken out. */
  const reading = new Map<RequestId, Promise<StatusView | undefined>>();

  feed.onChange((requestId) => {
    if (requestId === undefined) {
      kept.clear();
      reading.clear();
      return;
    }
    kept.delete(requestId);
    reading.delete(requestId);
  });

  async function readAndKeep(requestId: RequestId): Promise<StatusView | undefined> {
    const asked = read(requestId);
    reading.set(requestId, asked);
    try {
      const view = await asked;
      if (view !== undefined && reading.get(requestId) === asked) keep(requestId, view);
      return view;
    } finally {
      if (reading.get(requestId) === asked) reading.delete(requestId);
    }
  }

  function keep(requestId: RequestId, view: StatusView): void {
    kept.delete(requestId);
    kept.set(requestId, { view, sinceMs: clock.nowMs() });
    // A map keeps the order in which keys came: the oldest goes first.
    const oldest = kept.size > limit ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
  }

  function mayBeGiven({ view, sinceMs }: Kept): boolean {
    const nowMs = clock.nowMs();
    const ageMs = nowMs - sinceMs;
    // The clock was put back: nothing is known of ages.
    if (ageMs < 0 || (view.payByMs !== undefined && nowMs > view.payByMs)) return false;
    if (ageMs < UNHEARD_KEPT_MS) return true;
    if (view.final) return ageMs < FINAL_KEPT_MS;
    // It tells of another request, whose changes are announced by that one's id.
    if (view.supersededByRequestId !== undefined || ageMs >= OPEN_KEPT_MS) return false;
    const silentMs = nowMs - (feed.heardUpToMs() ?? -Infinity);
    return silentMs >= 0 && silentMs <= heardWithinMs;
  }

  return (requestId) => {
    const known = kept.get(requestId);
    if (known !== undefined && mayBeGiven(known)) return known.view;
    return readAndKeep(requestId);
  };
}
