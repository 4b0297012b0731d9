import type { BlockRef, Head, HeadSource } from "@causeway/chains";

/** Heads that the test emits. */
export interface SteppedHeads extends HeadSource {
  announce(block: BlockRef, seenAtMs: number): Head;
}

export function steppedHeads(): SteppedHeads {
  const listeners = new Set<(head: Head) => void>();
  let latest: Head | undefined;
  return {
    get latest() {
      return latest;
    },
    announce: (block, seenAtMs) => {
      latest = { ...block, seenAtMs };
      for (const listener of listeners) listener(latest);
      return latest;
    },
    onHead: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => undefined,
  };
}
