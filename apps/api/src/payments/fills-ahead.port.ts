import type { RequestId } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import type { PlannedFill } from "./fill-lane.port.ts";

/** A fill that was planned before its job ran. */
export interface FillAhead {
  readonly request: RequestRecord;
  readonly planned: PlannedFill;
  /** When its checks began, on the monotonic clock. */
  readonly checkedAtMs: number;
}

/** Fills that this process plans while their jobs are queued. A job without one plans its fill itself. */
export interface FillsAhead {
  /** @param plan undefined: the job must decide */
  begin(requestId: RequestId, plan: () => Promise<Omit<FillAhead, "checkedAtMs"> | undefined>): void;
  /** Once per fill. Undefined: there is none, or it is too old. */
  take(requestId: RequestId): Promise<FillAhead | undefined>;
}
