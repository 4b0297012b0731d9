import type { RequestId } from "@causeway/domain";
import { boolean, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8, json } from "../../db/columns.tables.ts";
import type { Month } from "../../db/month.port.ts";
import type { ArchivedTable, ArchiveState } from "./archive.port.ts";

/** Exports and removals of `operator archive`: one row per run with rows of a month. */
export const archives = pgTable(
  "archives",
  {
    month: text("month").$type<Month>().notNull(),
    /**
     * Counts from 1 for each month: requests that were open in an earlier run are archived in a later one.
     */
    part: integer("part").notNull(),
    /**
     * `exporting`: its requests are chosen. `exported`: its files are complete, and its rows are being
     * removed. `archived`: all its rows were removed.
     */
    state: text("state").$type<ArchiveState>().notNull(),
    /** Payments that were signed later stay as they are. */
    paymentsBeforeMs: int8("payments_before_ms").notNull(),
    /** Folder of the files on the host of the command. Null until they are complete. */
    folder: text("folder"),
    manifestSha256: text("manifest_sha256"),
    tables: json("tables").$type<readonly ArchivedTable[]>(),
    startedAtMs: int8("started_at_ms").notNull(),
    finishedAtMs: int8("finished_at_ms"),
  },
  (t) => [primaryKey({ columns: [t.month, t.part] })],
);

/** Requests of the unfinished archive. A row is deleted together with its request. */
export const archiveRequests = pgTable("archive_requests", {
  requestId: text("request_id").$type<RequestId>().primaryKey(),
  /** Its position in the order in which the archive reads and removes requests. */
  n: int8("n").generatedAlwaysAsIdentity().notNull().unique(),
  /** Whether the archive has events of it, or only other rows. */
  hasEvents: boolean("has_events").notNull().default(true),
});
