import type { AttestationRoute } from "@causeway/attest";

/** One request, understood: everything about it that no chain has to be asked for. */
export interface Understood<Answer> {
  /** Chain family, for counters. */
  readonly family: string;
  /** Equal for requests that must have the same answer. */
  readonly key: string;
  /** Whether an answer says that there is nothing to sign. */
  signsNothing(answer: Answer): boolean;
  /**
   * Asks the chains and signs. After the signal is aborted no question is asked and nothing is signed any
   * more.
   */
  attest(signal: AbortSignal): Promise<Answer>;
  /**
   * What aggregation must know. A peer's answer that is not about this very request is none: a quorum's
   * signatures over another payload are easy to come by, they are published.
   */
  readonly route: AttestationRoute<Answer>;
}

/** What the use cases of attestations stand on. */
export type Understand<Request, Answer> = (request: Request) => Understood<Answer>;
