import type { Lifecycle } from "@causeway/service-kit";
import type { Events } from "../db/events.port.ts";

interface RepeatOptions {
  /** Whether the first round starts immediately; otherwise it starts after the first interval. */
  readonly atStart?: boolean;
}

/**
 * Repeats tasks until the process ends. A task never runs concurrently with itself. A fault is reported with
 * the name of the task and ends only that round.
 */
export function repeating(
  lifecycle: Pick<Lifecycle, "add">,
  events: Pick<Events, "fault">,
): (task: string, everyMs: number, run: () => Promise<void>, options?: RepeatOptions) => void {
  return (task, everyMs, run, { atStart = false } = {}) => {
    let running: Promise<void> | undefined;
    const runRound = (): void => {
      running ??= run()
        .catch((error: unknown) => events.fault("job_fault", error, { job: task }))
        .finally(() => {
          running = undefined;
        });
    };
    if (atStart) runRound();
    const timer = setInterval(runRound, everyMs);
    lifecycle.add(task, async () => {
      clearInterval(timer);
      await running;
    });
  };
}
