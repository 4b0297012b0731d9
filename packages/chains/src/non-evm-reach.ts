import { reachedBy } from "./nodes/query-all.ts";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmConnection } from "./non-evm-connection.ts";

/**
 * Maximum blocks by which one endpoint may be ahead of a quorum. Solana reads the last 150 slots before its
 * cursor again, so a cursor that is too far ahead by less skips nothing.
 */
const MAX_AHEAD = 150n;

/** The newest state that a quorum of endpoints has reached. */
export interface Reach {
  /** Whether a quorum has reached this block. True if the endpoints show no block numbers. */
  hasReached(number: bigint): boolean;
  /** The same, with a tolerance of {@link MAX_AHEAD}. Undefined: fewer endpoints than the quorum answer. */
  isPlausible(number: bigint): Promise<boolean | undefined>;
}

export function createReach(
  connections: readonly Pick<NonEvmConnection, "head">[],
  order: Pick<EndpointOrder, "headOf" | "noteHead" | "noteFault">,
  quorum: number,
): Reach {
  /** Hyperliquid shows only a clock. Undefined: no endpoint has answered yet. */
  let hasNumbers: boolean | undefined = connections.some(({ head }) => head !== undefined)
    ? undefined
    : false;

  const isNumberless = (): boolean => hasNumbers === false;

  const hasReached = (number: bigint): boolean => {
    const heads = connections.flatMap((_, index) => order.headOf(index) ?? []);
    const reached = reachedBy(quorum, heads);
    return reached !== undefined && number <= reached;
  };
  const newestOf = async (index: number): Promise<bigint | undefined> => {
    try {
      const head = await connections[index]?.head?.();
      if (head === undefined) return undefined;
      order.noteHead(index, head);
      hasNumbers ||= head.number !== undefined;
      return head.number;
    } catch (fault) {
      order.noteFault(index, fault);
      return undefined;
    }
  };
  return {
    hasReached: (number) => isNumberless() || hasReached(number),
    isPlausible: async (number) => {
      if (isNumberless() || hasReached(number - MAX_AHEAD)) return true;
      // Their known heads are some seconds old.
      const heads = await Promise.all(connections.map(async (_, index) => await newestOf(index)));
      if (isNumberless()) return true;
      const reached = reachedBy(
        quorum,
        heads.flatMap((head) => head ?? []),
      );
      return reached === undefined ? undefined : number <= reached + MAX_AHEAD;
    },
  };
}
