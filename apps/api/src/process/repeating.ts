import type { Lifecycle } from "@causeway/service-kit";
import type { Events } from "../db/events.port.ts";

interface RepeatOptions {
  /** Whether the first round starts at once; otherwise after the first interval. */
  readonly atStart?: boolean;
}

/**
 * Repeats tasks until the process ends. A task never runs twice at once; a fault names the task and ends only
 * that round.
 */
export function repeating(
  lifecycle: Pick<Lifecycle, "add">,
  events: Pick<Events, "fault">,
): (task: string, everyMs: number, act: () => Promise<void>, options?: RepeatOptions) => void {
  return (task, everyMs, act, { atStart = false } = {}) => {
    let running: Promise<void> | undefined;
    const round = (): void => {
      running ??= act()
        .catch((error: unknown) => events.fault("job_fault", error, { job: task }))
        .finally(() => {
          running = undefined;
        });
    };
    if (atStart) round();
    const timer = setInterval(round, everyMs);
    lifecycle.add(task, async () => {
      clearInterval(timer);
      await running;
    });
  };
}
