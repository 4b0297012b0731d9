import type { ObserveCall } from "@causeway/chains";

/** When any node of each chain last responded. */
export interface LastAnswers {
  readonly observe: (chain: string) => ObserveCall;
  /** ms since the Unix epoch. Undefined: no response since this process started. */
  readonly ofChain: (chain: string) => number | undefined;
}

export function createLastAnswers(nowMs: () => number): LastAnswers {
  const answeredAtMs = new Map<string, number>();
  return {
    observe: (chain) => (_method, outcome) => {
      // A gateway error that is retried is not a response from the node.
      if (outcome === "ok" || outcome === "refused") answeredAtMs.set(chain, nowMs());
    },
    ofChain: (chain) => answeredAtMs.get(chain),
  };
}
