import { ServiceError } from "@causeway/domain";
import { pauseOf, pauseScopeText } from "./pause-scope.ts";
import type { Pause } from "./policy.port.ts";

/** The pauses as of the last second. */
export interface KnownPauses {
  /** Absent: nothing is ever paused. */
  readonly pauses?: (() => readonly Pause[]) | undefined;
}

const RETRY_AFTER_SECONDS = 30;

/**
 * Refuses a new request on a paused route.
 * @throws ServiceError SERVICE_UNAVAILABLE with the paused scope
 */
export function refusePaused(
  { pauses }: KnownPauses,
  originChainId: number,
  destinationChainId: number,
): void {
  const pause = pauseOf(pauses?.() ?? [], { originChainId, destinationChainId });
  if (pause === undefined) return;
  const pausedScope = pauseScopeText(pause.scope);
  throw new ServiceError(
    "SERVICE_UNAVAILABLE",
    `New requests are paused by the operator (${pausedScope}); retry later`,
    { data: { pausedScope }, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
