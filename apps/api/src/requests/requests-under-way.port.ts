import type { StateName } from "@causeway/domain";

/** The requests in one state in which the service must act. */
export interface StateUnderWay {
  readonly state: StateName;
  readonly count: number;
  /** When the oldest entered this state, ms since epoch; undefined if there is none. */
  readonly oldestMs: number | undefined;
}
