import type { BlockRef, Head, HeadSource } from "@causeway/families/evm";
import { reachedBy } from "../nodes/ask-all.ts";

export interface PooledHeadsOptions {
  /** The heads of each endpoint, and whether it currently responds. */
  readonly sources: readonly { readonly heads: HeadSource; readonly isAlive: () => boolean }[];
  readonly quorum: number;
  /** The block of this number on which a quorum agrees. @throws RpcFault */
  readonly block: (number: bigint) => Promise<BlockRef | undefined>;
  /** Milliseconds since epoch. */
  readonly now: () => number;
  /** Pause after the endpoints did not agree on a block, ms. */
  readonly retryMs: number;
  readonly onFault: (fault: unknown) => void;
}

/**
 * The head that a quorum of endpoints has reached, and whose block a quorum returns. It never decreases,
 * unless every endpoint is below it, because the chain itself was rolled back.
 */
export function createPooledHeads(options: PooledHeadsOptions): HeadSource {
  const { sources, quorum } = options;
  const listeners = new Set<(head: Head) => void>();
  let latest: Head | undefined;
  let looking = false;
  let again = false;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  const deliver = (block: BlockRef): void => {
    if (closed || block.hash === latest?.hash) return;
    latest = { ...block, seenAtMs: options.now() };
    for (const listener of listeners) {
      try {
        listener(latest);
      } catch (error) {
        // A failing listener must not affect the others.
        options.onFault(error);
      }
    }
  };

  /** With a quorum, a dead endpoint counts with its last head, which is the lowest. */
  const counted = (): typeof sources => sources.filter(({ isAlive }) => quorum > 1 || isAlive());

  const lookAgain = (): void => {
    clearTimeout(retry);
    retry = setTimeout(wake, options.retryMs);
  };

  const look = async (): Promise<void> => {
    const announced = counted().flatMap(({ heads }) => heads.latest ?? []);
    // With a quorum of 1, the first endpoint to announce a head must not decide alone.
    if (quorum === 1 && announced.length < counted().length) {
      lookAgain();
      return;
    }
    const number = reachedBy(
      quorum,
      announced.map((head) => head.number),
    );
    if (number === undefined) return;
    const isLower = latest !== undefined && number < latest.number;
    if (isLower && announced.some((head) => head.number >= (latest?.number ?? 0n))) return;
    const equal = announced.filter((head) => head.number === number);
    if (number === latest?.number && equal.every(({ hash }) => hash === latest?.hash)) return;
    if (equal.length >= quorum && new Set(equal.map(({ hash }) => hash)).size === 1) {
      const [head] = equal;
      if (head !== undefined) deliver(head);
      return;
    }
    const block = await options.block(number);
    if (block === undefined) lookAgain();
    else deliver(block);
  };

  const wake = (): void => {
    if (closed) return;
    if (looking) {
      again = true;
      return;
    }
    looking = true;
    clearTimeout(retry);
    look()
      .catch((fault: unknown) => {
        if (closed) return;
        options.onFault(fault);
        lookAgain();
      })
      .finally(() => {
        looking = false;
        if (!again) return;
        again = false;
        wake();
      });
  };
  const unsubscribers = sources.map((source) => source.heads.onHead(wake));

  return {
    get latest() {
      return latest;
    },
    onHead: (listener) => {
      const own = (head: Head): void => listener(head);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    close: async () => {
      closed = true;
      clearTimeout(retry);
      listeners.clear();
      for (const unsubscribe of unsubscribers) unsubscribe();
      await Promise.all(sources.map(async (source) => await source.heads.close()));
    },
  };
}
