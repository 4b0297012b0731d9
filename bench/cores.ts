import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Linux counts a process's time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** The two cores of a run: one for the server under test, one for everything else. */
export interface Cores {
  readonly server: number;
  readonly others: number;
}

/**
 * Undefined where processes cannot be pinned, or only one core is available: the figures are then unreliable.
 */
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
 * Binds all threads of a process to these cores; processes that it starts later inherit that.
 *
 * @throws when taskset fails
 */
export function pin(pid: number, ...cores: readonly number[]): void {
  execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", cores.join(","), String(pid)], {
    stdio: "ignore",
  });
}

/** Seconds of CPU time that a process has used so far; NaN where there is no /proc. */
export function cpuSeconds(pid: number): number {
  return timesOf(pid)?.ownSeconds ?? Number.NaN;
}

/**
 * CPU time of a process and its children, including children that have ended; NaN without /proc.
 * Grandchildren count only when they have ended.
 */
export function cpuSecondsWithChildren(pid: number): number {
  const parent = timesOf(pid);
  if (parent === undefined) return Number.NaN;
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => timesOf(Number(name)))
    .filter((times) => times?.parentPid === pid);
  return children.reduce(
    (sum, times) => sum + (times?.ownSeconds ?? 0) + (times?.endedChildrenSeconds ?? 0),
    parent.ownSeconds + parent.endedChildrenSeconds,
  );
}

/** Undefined when the process does not exist. */
export function parentOf(pid: number): number | undefined {
  return timesOf(pid)?.parentPid;
}

function timesOf(pid: number): ProcessTimes | undefined {
  try {
    return readProcessTimes(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

export interface ProcessTimes {
  readonly parentPid: number;
  readonly ownSeconds: number;
  readonly endedChildrenSeconds: number;
}

/** Pure. The times in the text of /proc/PID/stat. */
export function readProcessTimes(stat: string): ProcessTimes {
  // The name, in parentheses, may contain any character; the numbers follow it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const seconds = (first: number, second: number): number =>
    (Number(fields[first]) + Number(fields[second])) / TICKS_PER_SECOND;
  return {
    parentPid: Number(fields[1]),
    ownSeconds: seconds(11, 12),
    endedChildrenSeconds: seconds(13, 14),
  };
}
