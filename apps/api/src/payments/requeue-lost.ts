import { rescueOverdue } from "../db/rescue-lost.ts";
import type { LegKind, LegReads } from "./legs/leg-kind.ts";

/** Adds a new job for legs whose job was lost, and counts them. May run in any number of processes. */
export async function requeueLost(
  services: LegReads & Parameters<typeof rescueOverdue>[0],
  kind: LegKind,
): Promise<number> {
  const { name, id } = kind.queue;
  return await rescueOverdue(
    services,
    name,
    (...since) => kind.overdue(services, ...since),
    (legId) => ({ [id]: legId }),
  );
}
