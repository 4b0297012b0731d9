import { isClockPlausible } from "@causeway/domain";
import type { Services } from "../../db/services.port.ts";

/**
 * Whether rows may be deleted by age now. Raises an alarm and returns false if the chains' newest blocks do
 * not confirm the clock.
 */
export async function mayDeleteByAge({
  reads,
  clock,
  events,
}: Pick<Services, "reads" | "clock" | "events">): Promise<boolean> {
  const nowMs = clock.nowMs();
  const newest = await reads.newestBlocksMs();
  if (isClockPlausible(nowMs, newest)) return true;
  const newestBlockMs = newest.length === 0 ? undefined : Math.max(...newest);
  events.alarm("clock_implausible", { nowMs, newestBlockMs });
  return false;
}
