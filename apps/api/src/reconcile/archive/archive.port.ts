import type { Month } from "../../db/month.port.ts";

/** Tables whose rows, or the largest part of each row, are moved to the archive. */
export const archivedTables = ["request_events", "request_history", "slots"] as const;
export type ArchivedTableName = (typeof archivedTables)[number];
export type ArchiveState = "exporting" | "exported" | "archived";

/** A file of an archive. A table has one or several. */
export interface ArchivedTable {
  readonly table: ArchivedTableName;
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** One run's part of a month. */
export interface ArchivePart {
  readonly month: Month;
  readonly part: number;
}

/** The database whose rows an archive has. A copy by dump and restore is another one. */
export interface ArchivedDatabase {
  /** Identifies the server and its physical copies. */
  readonly systemIdentifier: string;
  readonly name: string;
}

/** The content of `manifest.json`. It is written last: files without a manifest are incomplete. */
export interface Manifest extends ArchivePart {
  readonly database: ArchivedDatabase;
  readonly exportedAt: string;
  readonly tables: readonly ArchivedTable[];
}

/** An archive that was begun. */
export interface BegunArchive extends ArchivePart {
  readonly state: ArchiveState;
  readonly paymentsBeforeMs: number;
  readonly folder: string | undefined;
  readonly manifestSha256: string | undefined;
  readonly tables: readonly ArchivedTable[];
}

/** The rows that an archive of a month would move. */
export interface ArchivePlan {
  readonly month: Month;
  /** Requests that are finished in every part. */
  readonly requests: number;
  /** Requests of the month that stay, because a part of them is still open. */
  readonly open: number;
  readonly events: number;
}

/** Rows as JSON, one in each line. */
export interface RowPage {
  readonly count: number;
  /** Without a line break at the end. */
  readonly lines: string;
}

/** Ids or positions from `after`, which is excluded, to `through`, which is included. */
export interface Range {
  readonly after: number;
  readonly through: number;
}

/** Rows of an archive on one connection of Postgres, range by range: several connections share the ranges. */
export interface ArchiveRows {
  /**
   * The rows of this range that the archive moves, in pages of bounded size. No transaction is open between
   * two pages.
   */
  read(archive: BegunArchive, table: ArchivedTableName, range: Range): AsyncIterable<RowPage>;
  /** Removes everything but the events of the requests at these positions, in one transaction. */
  removeRequests(archive: BegunArchive, positions: Range): Promise<void>;
}

/** Archives, on one connection of Postgres. */
export interface ArchiveStore extends ArchiveRows {
  database(): Promise<ArchivedDatabase>;
  /** Months before this one that may have something to archive, in order. */
  months(before: Month): Promise<readonly Month[]>;
  plan(month: Month, untouchedSinceMs: number): Promise<ArchivePlan>;
  /** The archive that is not finished. */
  unfinished(): Promise<BegunArchive | undefined>;
  /** Selects the finished requests of a month that nothing has changed since; undefined if there are none. */
  begin(month: Month, untouchedSinceMs: number, nowMs: number): Promise<BegunArchive | undefined>;
  /** Ids of the month's events, among them all that the archive moves. */
  eventIds(archive: ArchivePart): Promise<Range>;
  /** Positions of the requests that are not removed yet. */
  positions(): Promise<Range>;
  setExported(
    archive: ArchivePart,
    folder: string,
    sha256: string,
    tables: readonly ArchivedTable[],
  ): Promise<void>;
  /** Removes the events of the archive; false when their table stayed locked and nothing was changed. */
  removeEvents(archive: ArchivePart): Promise<boolean>;
  setArchived(archive: ArchivePart, nowMs: number): Promise<void>;
}

/** The files of archives. */
export interface ArchiveFiles {
  /**
   * Reserves the folder for archives of one database.
   * @throws Error if it is reserved for another one
   */
  claim(database: ArchivedDatabase): Promise<void>;
  /** Absolute path of the folder with the files of a part. */
  folderOf(part: ArchivePart): string;
  /** Removes the files that an interrupted export left. */
  clear(part: ArchivePart): Promise<void>;
  /**
   * Writes a file of rows, and returns once it is on the disk.
   * @param n distinguishes the files of a table
   */
  write(
    part: ArchivePart,
    table: ArchivedTableName,
    n: number,
    pages: AsyncIterable<RowPage>,
  ): Promise<ArchivedTable>;
  /**
   * Writes the manifest and returns its SHA-256 once it is on the disk. An existing manifest is complete,
   * even if the process was killed.
   */
  finish(manifest: Manifest): Promise<string>;
  /** @throws Error naming the file that is missing or does not match the manifest of this SHA-256 */
  verify(folder: string, manifestSha256: string): Promise<void>;
}
