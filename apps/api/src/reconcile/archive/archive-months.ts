import { setTimeout as sleep } from "node:timers/promises";
import { RETENTION_MS } from "../retention-times.ts";
import type { Month } from "../../db/month.port.ts";
import { endOfMonth, monthOf } from "../../db/month.ts";
import {
  archivedTables,
  type ArchivedTable,
  type ArchivedTableName,
  type ArchiveFiles,
  type ArchivePart,
  type ArchiveRows,
  type ArchiveStore,
  type BegunArchive,
  type RowPage,
} from "./archive.port.ts";
import { onAll, shareOut, type SharedRanges } from "./shared-ranges.ts";

/**
 * Younger requests stay: the service still reads them for very late deposits, statistics and redelivered
 * webhooks.
 */
const YOUNGEST_MS = RETENTION_MS.requests;
/**
 * Positions, or ids of events, that a connection exports before it takes the next ones: some megabytes of
 * rows.
 */
const EXPORTED_AT_ONCE: Readonly<Record<ArchivedTableName, number>> = {
  request_events: 10_000,
  request_history: 2_000,
  slots: 2_000,
};
/** Positions whose requests one transaction removes. */
const REMOVED_AT_ONCE = 500;
/** Attempts to lock the trace before the command gives up, and the pause between them. */
const MAX_TRIES = 60;
const PAUSE_MS = 1_000;

/** The outcome of one part of a month. */
export interface ArchivedPart extends ArchivePart {
  readonly folder: string;
  readonly tables: readonly ArchivedTable[];
}

interface ArchiveServices {
  readonly store: ArchiveStore;
  /** Further connections, which read and remove rows at the same time as `store`. */
  readonly otherConnections: readonly ArchiveRows[];
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
export async function* archiveMonths(services: ArchiveServices, before: Month): AsyncGenerator<ArchivedPart> {
  const { store, files, nowMs } = services;
  await files.claim(await store.database());
  const begun = await store.unfinished();
  if (begun !== undefined) yield await finish(services, begun);
  for (const month of await store.months(before)) {
    const archive = await store.begin(month, untouchedSinceMs(nowMs()), nowMs());
    if (archive !== undefined) yield await finish(services, archive);
  }
}

async function finish(services: ArchiveServices, begun: BegunArchive): Promise<ArchivedPart> {
  const { store, otherConnections, files, nowMs } = services;
  const { folder, sha256, tables } = await exportRows(services, begun);
  // Nothing is removed until everything is on disk.
  await files.verify(folder, sha256);
  for (let tries = 1; !(await store.removeEvents(begun)); tries++) {
    if (tries === MAX_TRIES)
      throw new Error(
        "request_events stayed locked by other transactions; end them and run the command again, it continues where it stopped",
      );
    await sleep(PAUSE_MS);
  }
  const ranges = shareOut(await store.positions(), REMOVED_AT_ONCE, 1 + otherConnections.length);
  await onAll([store, ...otherConnections], [ranges], async (rows) => {
    for (const range of ranges.takeParts()) await rows.removeRequests(begun, range);
  });
  await store.setArchived(begun, nowMs());
  return { month: begun.month, part: begun.part, folder, tables };
}

async function exportRows(
  { store, otherConnections, files, nowMs }: ArchiveServices,
  begun: BegunArchive,
): Promise<{ readonly folder: string; readonly sha256: string; readonly tables: readonly ArchivedTable[] }> {
  const { month, part } = begun;
  if (begun.folder !== undefined && begun.manifestSha256 !== undefined)
    return { folder: begun.folder, sha256: begun.manifestSha256, tables: begun.tables };
  await files.clear(begun);
  const [positions, eventIds] = [await store.positions(), await store.eventIds(begun)];
  const work = archivedTables.map((table) => ({
    table,
    ranges: shareOut(
      table === "request_events" ? eventIds : positions,
      EXPORTED_AT_ONCE[table],
      1 + otherConnections.length,
    ),
  }));
  const written: ArchivedTable[] = [];
  const write = async (rows: ArchiveRows, n: number): Promise<void> => {
    for (const { table, ranges } of work)
      // Files beyond the number of ranges would be empty.
      if (n === 1 || n <= ranges.count)
        written.push(await files.write(begun, table, n, pagesOf(rows, begun, table, ranges)));
  };
  await onAll(
    [store, ...otherConnections],
    work.map(({ ranges }) => ranges),
    write,
  );
  const tables = written.toSorted((a, b) => (a.file < b.file ? -1 : 1));
  const exportedAt = new Date(nowMs()).toISOString();
  const sha256 = await files.finish({ database: await store.database(), month, part, exportedAt, tables });
  const folder = files.folderOf(begun);
  await store.setExported(begun, folder, sha256, tables);
  return { folder, sha256, tables };
}

async function* pagesOf(
  rows: ArchiveRows,
  begun: BegunArchive,
  table: ArchivedTableName,
  ranges: SharedRanges,
): AsyncGenerator<RowPage> {
  for (const range of ranges.takeParts()) yield* rows.read(begun, table, range);
}
