import type { System } from "@causeway/localnet";
import { parentOf, cpuSeconds, cpuSecondsWithChildren } from "../../bench/cores.ts";

/** CPU time in ms, by process. */
export type CpuUsage = Readonly<Record<"API" | "worker" | "Postgres", number>>;

/**
 * Reads the CPU time used so far. Postgres is NaN if it runs on another machine.
 * @param backendPid process id of any session of the run's Postgres
 */
export function readCpuUsage(
  { apis, workers }: Pick<System, "apis" | "workers">,
  backendPid: number,
): CpuUsage {
  const ms = (processes: System["apis"]): number =>
    processes.reduce((sum, { pid }) => sum + cpuSeconds(pid) * 1_000, 0);
  const postgres = cpuSecondsWithChildren(parentOf(backendPid) ?? Number.NaN) * 1_000;
  return { API: ms(apis), worker: ms(workers), Postgres: postgres };
}

/** Pure. The usage per request, from quote to final, including that of the idle system. */
export function cpuRemark(before: CpuUsage, after: CpuUsage, requests: number): string {
  const parts = (["API", "worker", "Postgres"] as const).map((part) => ({
    part,
    ms: (after[part] - before[part]) / requests,
  }));
  const total = parts.reduce((sum, { ms }) => sum + ms, 0);
  return `CPU time per request: ${parts.map(({ part, ms }) => `${part} ${ms.toFixed(1)} ms`).join(", ")}; total ${total.toFixed(1)} ms`;
}
