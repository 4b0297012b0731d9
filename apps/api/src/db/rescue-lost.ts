import type { Overdue } from "./job-runs.port.ts";
import type { Services } from "./services.port.ts";
import type { LostJob } from "./unit-of-work.port.ts";

type Needs = Pick<Services, "uow" | "clock" | "enginePolicy">;

/** The bounds for legs that may have lost their jobs by now. */
export function overdueNow({ clock, enginePolicy }: Omit<Needs, "uow">): Overdue {
  const nowMs = clock.nowMs();
  return { nowMs, sinceBeforeMs: nowMs - enginePolicy.overdueAfterMs };
}

/** Queues these jobs again. @returns how many */
export async function rescue({ uow, clock, enginePolicy }: Needs, lost: readonly LostJob[]): Promise<number> {
  if (lost.length === 0) return 0;
  return await uow.run((tx) => tx.outbox.rescue(lost, clock.nowMs(), enginePolicy.overdueAfterMs));
}
