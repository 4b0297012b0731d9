import type { ObserveCall } from "@causeway/chains";

/** When the nodes of each chain last answered anything. */
export interface LastAnswers {
  readonly observe: (chain: string) => ObserveCall;
  /** ms since the Unix epoch. Undefined: not since the start. */
  readonly ofChain: (chain: string) => number | undefined;
}

export function createLastAnswers(nowMs: () => number): LastAnswers {
  const answeredAtMs = new Map<string, number>();
  return {
    observe: (chain) => (_method, outcome) => {
      // A gateway's refusal that is retried is not an answer of a node.
      if (outcome === "ok" || outcome === "refused") answeredAtMs.set(chain, nowMs());
    },
    ofChain: (chain) => answeredAtMs.get(chain),
  };
}
