import type { RequestId } from "@causeway/domain";
import type { StatusRecord } from "../db/records.port.ts";

/** A client's view of a request after its `sequence`-th change. */
export interface StatusChange {
  readonly record: StatusRecord;
  /** 0: unchanged since the quote. */
  readonly sequence: number;
  /** The only change is that the outcome became final. */
  readonly onlyFinal: boolean;
}

/** Receives changes. Must not throw. */
export interface StatusListener {
  /** Receives each change once, in order. */
  changed(change: StatusChange): void;
  /**
   * Changes may be missed from now on, and no more will follow: a listener that guaranteed delivery must
   * report it.
   */
  lost(): void;
}

/** Stops listening; may be called twice. */
export type StopListening = () => void;

/** Changes of requests, delivered within milliseconds of their commits by any process. */
export interface StatusFeed {
  /**
   * Delivers the current status, then every change, without a gap. With `after`: stored changes since that
   * sequence instead of the current status. Resolves after the first delivery, or with undefined for an
   * unknown request.
   */
  follow(requestId: RequestId, listener: StatusListener, after?: number): Promise<StopListening | undefined>;
  /** Changes of all requests of an API key from now on. */
  followKey(keyId: string, listener: StatusListener): StopListening;
}
