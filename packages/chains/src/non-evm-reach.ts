import type { BlockRef } from "@causeway/families/evm";
import { reachedBy } from "./nodes/query-all.ts";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmConnection } from "./non-evm-connection.ts";

/**
 * Maximum blocks by which one endpoint may be ahead of a quorum. Solana reads the last 150 slots before its
 * cursor again, so a cursor that is too far ahead by less skips nothing.
 */
const MAX_AHEAD = 150n;
/** The same for a clock, ms. Hyperliquid reads the last minute before its cursor again. */
const MAX_CLOCK_AHEAD_MS = 30_000n;

/** Up to where an endpoint was read. */
type UpTo = Pick<BlockRef, "number" | "timestamp">;

/** The newest state that a quorum of endpoints has reached. */
export interface Reach {
  /**
   * Whether a quorum has reached this block or, on a chain whose endpoints show only a clock, this time. True
   * if they show neither.
   */
  hasReached(upTo: UpTo): boolean;
  /** The same, with a tolerance. Undefined: fewer endpoints than the quorum answer. */
  isPlausible(upTo: UpTo): Promise<boolean | undefined>;
}

export function createReach(
  connections: readonly Pick<NonEvmConnection, "head">[],
  order: Pick<EndpointOrder, "headOf" | "clockOf" | "noteHead" | "noteFault">,
  quorum: number,
): Reach {
  const indexes = [...connections.keys()];
  const hasHeads = connections.some(({ head }) => head !== undefined);

  const isReached = ({ number, timestamp }: UpTo, maxAhead = 0n, maxClockAheadMs = 0n): boolean => {
    if (!hasHeads) return true;
    const reached = reachedBy(
      quorum,
      indexes.flatMap((index) => order.headOf(index) ?? []),
    );
    if (reached !== undefined) return number <= reached + maxAhead;
    const clock = reachedBy(
      quorum,
      indexes.flatMap((index) => order.clockOf(index) ?? []),
    );
    return clock !== undefined && timestamp * 1_000n <= clock + maxClockAheadMs;
  };
  const isNear = (upTo: UpTo): boolean => isReached(upTo, MAX_AHEAD, MAX_CLOCK_AHEAD_MS);

  /** @returns whether the endpoint answered */
  const readHead = async (index: number): Promise<boolean> => {
    try {
      const head = await connections[index]?.head?.();
      if (head === undefined) return false;
      order.noteHead(index, head);
      return true;
    } catch (fault) {
      order.noteFault(index, fault);
      return false;
    }
  };
  return {
    hasReached: (upTo) => isReached(upTo),
    isPlausible: async (upTo) => {
      if (isNear(upTo)) return true;
      // Their known heads are some seconds old.
      const answered = (await Promise.all(indexes.map(readHead))).filter(Boolean);
      return answered.length < quorum ? undefined : isNear(upTo);
    },
  };
}
