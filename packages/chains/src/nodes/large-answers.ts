/** Limits concurrent reads of large responses. Further responses wait for their turn. */
export interface LargeAnswers {
  /**
   * Calls `begin` once there is room, or immediately. The returned function frees the room or the place in
   * the queue; calling it again has no effect.
   */
  enter(begin: () => void): () => void;
}

export function createLargeAnswers(maxConcurrent: number): LargeAnswers {
  const active = new Set<() => void>();
  const waiting = new Set<() => void>();
  return {
    enter: (begin) => {
      // A separate function for each caller, since `begin` may be the same.
      const turn = (): void => begin();
      if (active.size < maxConcurrent) {
        active.add(turn);
        turn();
      } else waiting.add(turn);
      return () => {
        waiting.delete(turn);
        if (!active.delete(turn)) return;
        const [next] = waiting;
        if (next === undefined) return;
        waiting.delete(next);
        active.add(next);
        next();
      };
    },
  };
}
