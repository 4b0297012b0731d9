import { setTimeout as sleep } from "node:timers/promises";
import { RETENTION_MS } from "../retention.ts";
import type { Month } from "../../db/month.port.ts";
import { endOfMonth, monthOf } from "../../db/month.ts";
import type { ArchivedTable, ArchiveFiles, ArchivePart, ArchiveStore, BegunArchive } from "./archive.port.ts";

/**
 * The service still reads requests that ended this recently, for very late deposits, statistics and
 * redelivered webhooks.
 */
const YOUNGEST_MS = RETENTION_MS.requests;
/** Requests per commit. */
const BATCH = 500;
/** Attempts to lock the trace before the command gives up, and the pause between them. */
const MAX_TRIES = 60;
const PAUSE_MS = 1_000;

/** The outcome of one part of a month. */
export interface Archived extends ArchivePart {
  readonly folder: string;
  readonly tables: readonly ArchivedTable[];
}

interface ArchiveServices {
  readonly store: ArchiveStore;
  readonly files: ArchiveFiles;
  readonly nowMs: () => number;
}

/** The first month that cannot be archived yet. */
export function youngestArchivable(nowMs: number): Month {
  return monthOf(nowMs - YOUNGEST_MS);
}

/** When a month can be archived. */
export function archivableFromMs(month: Month): number {
  return endOfMonth(month) + YOUNGEST_MS;
}

/** Requests that changed since then stay. */
export const untouchedSinceMs = (nowMs: number): number => nowMs - YOUNGEST_MS;

/**
 * Moves finished requests of all months before `before` to files, oldest month first. An unfinished earlier
 * run is completed first, so the command can be stopped at any time and run again.
 * @param before at most {@link youngestArchivable}
 */
export async function* archiveMonths(services: ArchiveServices, before: Month): AsyncGenerator<Archived> {
  const { store, files, nowMs } = services;
  await files.claim(await store.database());
  const begun = await store.unfinished();
  if (begun !== undefined) yield await finish(services, begun);
  for (const month of await store.months(before)) {
    const archive = await store.begin(month, untouchedSinceMs(nowMs()), nowMs());
    if (archive !== undefined) yield await finish(services, archive);
  }
}

async function finish(services: ArchiveServices, begun: BegunArchive): Promise<Archived> {
  const { store, files, nowMs } = services;
  const { folder, sha256, tables } = await exported(services, begun);
  // Nothing is removed until everything is on disk.
  await files.verify(folder, sha256);
  for (let tries = 1; !(await store.removeEvents(begun)); tries++) {
    if (tries === MAX_TRIES)
      throw new Error(
        "request_events stayed locked by other transactions; end them and run the command again, it continues where it stopped",
      );
    await sleep(PAUSE_MS);
  }
  while ((await store.removeRequests(begun, BATCH)) > 0);
  await store.setArchived(begun, nowMs());
  return { month: begun.month, part: begun.part, folder, tables };
}

async function exported(
  { store, files, nowMs }: ArchiveServices,
  begun: BegunArchive,
): Promise<{ readonly folder: string; readonly sha256: string; readonly tables: readonly ArchivedTable[] }> {
  const { month, part } = begun;
  if (begun.folder !== undefined && begun.manifestSha256 !== undefined)
    return { folder: begun.folder, sha256: begun.manifestSha256, tables: begun.tables };
  await files.clear(begun);
  const tables: ArchivedTable[] = [];
  await store.read(begun, async (table, rows) => {
    tables.push(await files.write(begun, table, rows));
  });
  const exportedAt = new Date(nowMs()).toISOString();
  const sha256 = await files.finish({ database: await store.database(), month, part, exportedAt, tables });
  const folder = files.folderOf(begun);
  await store.setExported(begun, folder, sha256, tables);
  return { folder, sha256, tables };
}
