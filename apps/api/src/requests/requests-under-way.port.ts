import type { StateName } from "@causeway/domain";

/** Requests in one state in which the service has something to do. */
export interface StateUnderWay {
  readonly state: StateName;
  readonly count: number;
  /** Since when the oldest is in this state, ms since epoch; undefined when there is none. */
  readonly oldestMs: number | undefined;
}
