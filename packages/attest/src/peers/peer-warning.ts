/**
 * What the operator should see of one aggregation. Holds no credential and no text of a peer beyond a claimed
 * address.
 */
export interface PeerWarning {
  readonly kind:
    | "peerSkipped"
    | "peerDiverges"
    | "signatureRefused"
    | "localFailed"
    | "localDiverges"
    | "belowThreshold";
  /** One sentence. */
  readonly text: string;
  /** Place of the peer in the list, from 0. */
  readonly peer?: number;
  readonly matched?: number;
  readonly required?: number;
  readonly error?: unknown;
}

/** For counters: how one peer's call ended. Peers that were not waited for are not told. */
export interface PeerReport {
  readonly peer: number;
  readonly name: string;
  readonly outcome: "answered" | PeerOutcome;
  readonly tookMs: number;
}

/** Why a peer gave no answer. */
export type PeerOutcome =
  | "timeout"
  | "aborted"
  | "network"
  | "status"
  | "tooLarge"
  | "encoding"
  | "notJson"
  | "invalid"
  | "shadow";
