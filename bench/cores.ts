import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Linux counts a process's time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** The two cores of a run: one for the server under test, one for everything else. */
export interface Cores {
  readonly server: number;
  readonly others: number;
}

/** Undefined where processes cannot be pinned, or only one core may be used: the figures then say little. */
export function chooseCores(): Cores | undefined {
  try {
    execFileSync("taskset", ["--version"], { stdio: "ignore" });
    const status = readFileSync("/proc/self/status", "utf8");
    const [server, others] = coresIn(/^Cpus_allowed_list:\s*(.+)$/m.exec(status)?.[1] ?? "");
    return server === undefined || others === undefined ? undefined : { server, others };
  } catch {
    return undefined;
  }
}

/** Numbers of a list like `0-3,8`. */
export function coresIn(list: string): number[] {
  return list.split(",").flatMap((part) => {
    const [from, to] = part.trim().split("-").map(Number);
    if (from === undefined || Number.isNaN(from) || part.trim() === "") return [];
    return Array.from({ length: (to ?? from) - from + 1 }, (_, index) => from + index);
  });
}

/**
 * Binds all threads of a process to one core; processes that it starts later inherit that.
 *
 * @throws when taskset fails
 */
export function pin(pid: number, core: number): void {
  execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", String(core), String(pid)], {
    stdio: "ignore",
  });
}

/** Seconds of processor time that a process has used so far; NaN where there is no /proc. */
export function processorSeconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may hold anything; the numbers come after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}
