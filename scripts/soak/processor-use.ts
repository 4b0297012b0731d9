import type { System } from "@causeway/localnet";
import { parentOf, processorSeconds, processorSecondsWithChildren } from "../../bench/cores.ts";

/** Processor time in ms, by what used it. */
export type ProcessorUse = Readonly<Record<"API" | "worker" | "Postgres", number>>;

/** @param backendPid any session of the run's Postgres; a server elsewhere counts as NaN */
export function readProcessorUse(
  { apis, workers }: Pick<System, "apis" | "workers">,
  backendPid: number,
): ProcessorUse {
  const ms = (processes: System["apis"]): number =>
    processes.reduce((sum, { pid }) => sum + processorSeconds(pid) * 1_000, 0);
  const postgres = processorSecondsWithChildren(parentOf(backendPid) ?? Number.NaN) * 1_000;
  return { API: ms(apis), worker: ms(workers), Postgres: postgres };
}

/** Pure. What each of so many requests used, from quote to final, with what the idle system uses. */
export function processorRemark(before: ProcessorUse, after: ProcessorUse, requests: number): string {
  const parts = (["API", "worker", "Postgres"] as const).map((part) => ({
    part,
    ms: (after[part] - before[part]) / requests,
  }));
  const total = parts.reduce((sum, { ms }) => sum + ms, 0);
  return `processor time per request: ${parts.map(({ part, ms }) => `${part} ${ms.toFixed(1)} ms`).join(", ")}; together ${total.toFixed(1)} ms`;
}
