/** Lets few large answers at once be read whole: others wait, and are asked again when their time is over. */
export interface LargeAnswers {
  /**
   * Calls `begin` once there is room, at once if there is. What is returned gives the room back, or the place
   * in the queue; again changes nothing.
   */
  enter(begin: () => void): () => void;
}

export function largeAnswers(atOnce: number): LargeAnswers {
  const inside = new Set<() => void>();
  const waiting = new Set<() => void>();
  return {
    enter: (begin) => {
      // One function of its own for each caller: `begin` may be the same.
      const turn = (): void => begin();
      if (inside.size < atOnce) {
        inside.add(turn);
        turn();
      } else waiting.add(turn);
      return () => {
        waiting.delete(turn);
        if (!inside.delete(turn)) return;
        const [next] = waiting;
        if (next === undefined) return;
        waiting.delete(next);
        inside.add(next);
        next();
      };
    },
  };
}
