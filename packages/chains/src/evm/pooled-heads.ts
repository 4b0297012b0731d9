import type { BlockRef, Head, HeadSource } from "@causeway/families/evm";
import { reachedBy } from "../nodes/query-all.ts";

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
  let isChecking = false;
  let shouldCheckAgain = false;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;

  const deliver = (block: BlockRef): void => {
    if (isClosed || block.hash === latest?.hash) return;
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

  /** With a quorum above 1, an endpoint that stopped responding still counts with its last head. */
  const countedSources = (): typeof sources => sources.filter(({ isAlive }) => quorum > 1 || isAlive());

  const scheduleRetry = (): void => {
    clearTimeout(retry);
    retry = setTimeout(wake, options.retryMs);
  };

  const check = async (): Promise<void> => {
    const announced = countedSources().flatMap(({ heads }) => heads.latest ?? []);
    // With a quorum of 1, the first endpoint to announce a head must not decide alone.
    if (quorum === 1 && announced.length < countedSources().length) {
      scheduleRetry();
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
    if (block === undefined) scheduleRetry();
    else deliver(block);
  };

  const wake = (): void => {
    if (isClosed) return;
    if (isChecking) {
      shouldCheckAgain = true;
      return;
    }
    isChecking = true;
    clearTimeout(retry);
    check()
      .catch((fault: unknown) => {
        if (isClosed) return;
        options.onFault(fault);
        scheduleRetry();
      })
      .finally(() => {
        isChecking = false;
        if (!shouldCheckAgain) return;
        shouldCheckAgain = false;
        wake();
      });
  };
  const unsubscribers = sources.map((source) => source.heads.onHead(wake));

  return {
    get latest() {
      return latest;
    },
    onHead: (listener) => {
      const registered = (head: Head): void => listener(head);
      listeners.add(registered);
      return () => void listeners.delete(registered);
    },
    close: async () => {
      isClosed = true;
      clearTimeout(retry);
      listeners.clear();
      for (const unsubscribe of unsubscribers) unsubscribe();
      await Promise.all(sources.map(async (source) => await source.heads.close()));
    },
  };
}
