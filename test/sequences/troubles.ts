import type { ChainReader, ChainWriter } from "@causeway/chains";

/** A node that is in trouble for a while. */

export const troubles = [
  /** It silently lacks the logs of its newest blocks. */
  "missingLogs",
  /** It is at an older state of the chain. */
  "behind",
  /** Some of its answers are errors. */
  "errors",
  /** It accepts a transaction and answers with an error. */
  "unheardBroadcasts",
  /** It answers with an error and accepts nothing. */
  "lostBroadcasts",
] as const;

export interface Trouble {
  readonly kind: (typeof troubles)[number];
  /** Newest blocks that it lacks, or calls from one error to the next. */
  readonly extent: number;
}

export interface TroubledNode {
  readonly reader: ChainReader;
  readonly writer: ChainWriter;
  trouble(trouble: Trouble): void;
  rescue(): void;
  isTroubled(): boolean;
  /** Whether logs were ever missing. */
  hidLogs(): boolean;
}
