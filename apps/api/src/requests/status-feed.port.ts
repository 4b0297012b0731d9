import type { RequestId } from "@causeway/domain";
import type { StatusRecord } from "../db/records.port.ts";

/** What a client sees of a request, as of its `sequence`-th change. */
export interface StatusChange {
  readonly record: StatusRecord;
  /** 0: nothing has changed since the quote. */
  readonly sequence: number;
  /** Nothing changed but that it will not change any more. */
  readonly onlyFinal: boolean;
}

/** Who wants to hear of changes. Must not throw. */
export interface StatusListener {
  /** In order, each once. */
  changed(change: StatusChange): void;
  /**
   * Changes may be missed from now on, and no more will be told: whoever promised to pass on all of them must
   * say so.
   */
  lost(): void;
}

/** Ends the listening; may be called twice. */
export type StopListening = () => void;

/** Changes of requests, heard within milliseconds of their commits, whoever made them. */
export interface StatusFeed {
  /**
   * Tells how the request stands, then every change, without a gap. With `after`: the changes since that
   * sequence instead of how it stands, as far as there are any and they are kept. Settles when the first has
   * been told; undefined when no request has this id.
   */
  follow(requestId: RequestId, listener: StatusListener, after?: number): Promise<StopListening | undefined>;
  /** Changes from now on of all requests of an API key. */
  followKey(keyId: string, listener: StatusListener): StopListening;
}
