import type { ChainReader, ChainWriter } from "@causeway/chains";

/** Trouble that a node may have for a while. */

export const troubles = [
  /** It lacks the logs of its newest blocks, without an error. */
  "missingLogs",
  /** It shows an older state of the chain. */
  "behind",
  /** Some of its answers are errors. */
  "errors",
  /** It accepts transactions, but answers with an error. */
  "unheardBroadcasts",
  /** It answers broadcasts with an error, and accepts no transaction. */
  "lostBroadcasts",
] as const;

export interface Trouble {
  readonly kind: (typeof troubles)[number];
  /** How many of the newest blocks are missing; for `errors`, every `extent + 2`-th call fails. */
  readonly extent: number;
}

export interface TroubledNode {
  readonly reader: ChainReader;
  readonly writer: ChainWriter;
  /** Gives the node this trouble until {@link rescue}. */
  trouble(trouble: Trouble): void;
  /** Ends the trouble. */
  rescue(): void;
  isTroubled(): boolean;
  /** Whether the node ever withheld logs. */
  hidLogs(): boolean;
}
