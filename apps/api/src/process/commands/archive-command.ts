import type { Month } from "../../db/month.port.ts";
import { isMonth, monthAfter } from "../../db/month.ts";
import type { ArchiveFiles, ArchiveRows, ArchiveStore } from "../../reconcile/archive/archive.port.ts";
import {
  archivableFromMs,
  archiveMonths,
  untouchedSinceMs,
  youngestArchivable,
} from "../../reconcile/archive/archive-months.ts";
import { commandLine, DONE, printLine, runCommand, UsageError } from "./run-command.ts";

/**
 * Maximum and default number of connections of one run. Each connection keeps one processor of the database
 * busy.
 */
export const MAX_CONNECTIONS = 16;
const DEFAULT_CONNECTIONS = 2;

export const ARCHIVE_USAGE = `  operator archive --before <YYYY-MM> --to <folder> [--connections <n>]
                              moves traces, history entries and call data of requests that ended before that month to compressed files in
                              that folder; statuses and all records that payments depend on stay in the database.
                              It can be stopped and run again. --connections (1 to ${MAX_CONNECTIONS}, default ${DEFAULT_CONNECTIONS}): how many work at once
  operator archive --before <YYYY-MM> --dry-run
                              counts what would move, and changes nothing
`;

/** Opens the dependencies of the command. */
export type OpenArchives = () => {
  /**
   * @throws Error if another process is archiving, if a pooler would let two processes archive at once, or if
   * the clocks of this host and of the database differ
   */
  begin(connections: number): Promise<{
    readonly store: ArchiveStore;
    readonly otherConnections: readonly ArchiveRows[];
    close(): void;
  }>;
  filesIn(folder: string): ArchiveFiles;
  nowMs(): number;
  close(): Promise<void>;
};

/** `operator archive`: prints a JSON line per part of a month. Never throws: the exit code is the outcome. */
export async function runArchive(args: readonly string[], open: OpenArchives): Promise<number> {
  return await runCommand(ARCHIVE_USAGE, async () => {
    const { before, folder, connections } = parseArguments(args);
    const archives = open();
    try {
      const { store, otherConnections, close } = await archives.begin(connections);
      try {
        const nowMs = archives.nowMs();
        refuseRecent(before, nowMs);
        const lines =
          folder === undefined
            ? plans(store, before, nowMs)
            : archiveMonths(
                { store, otherConnections, files: archives.filesIn(folder), nowMs: () => archives.nowMs() },
                before,
              );
        let isEmpty = true;
        for await (const line of lines) {
          isEmpty = false;
          printLine(line);
        }
        // On stderr, so that stdout contains only JSON lines.
        if (isEmpty) process.stderr.write(`nothing to archive before ${before}\n`);
        return DONE;
      } finally {
        close();
      }
    } finally {
      await archives.close();
    }
  });
}

async function* plans(store: ArchiveStore, before: Month, nowMs: number): AsyncGenerator<object> {
  for (const month of await store.months(before)) {
    const plan = await store.plan(month, untouchedSinceMs(nowMs));
    if (plan.requests > 0 || plan.events > 0 || plan.open > 0) yield plan;
  }
}

/** @throws UsageError */
function parseArguments(args: readonly string[]): {
  readonly before: Month;
  /** Undefined: a dry run. */
  readonly folder: string | undefined;
  readonly connections: number;
} {
  const options = {
    before: { type: "string" },
    to: { type: "string", default: "" },
    "dry-run": { type: "boolean", default: false },
    connections: { type: "string", default: String(DEFAULT_CONNECTIONS) },
  } as const;
  const { values } = commandLine({ args: [...args], options });
  if (values.before === undefined || !isMonth(values.before))
    throw new UsageError(`--before must be a month like 2026-01, got ${values.before ?? "nothing"}`);
  const connections = Number(values.connections);
  if (!Number.isInteger(connections) || connections < 1 || connections > MAX_CONNECTIONS)
    throw new UsageError(
      `--connections must be a whole number from 1 to ${MAX_CONNECTIONS}, got ${values.connections}`,
    );
  if (values["dry-run"]) return { before: values.before, folder: undefined, connections: 1 };
  // No default: a folder in a checkout or a container would be lost together with the checkout or container.
  if (values.to === "")
    throw new UsageError("--to is required: a folder for the files, outside the checkout");
  return { before: values.before, folder: values.to, connections };
}

/** @throws UsageError */
function refuseRecent(before: Month, nowMs: number): void {
  const youngest = youngestArchivable(nowMs);
  if (before <= youngest) return;
  throw new UsageError(
    `--before must be at most ${youngest} today, got ${before}: the service still reads the last 30 days. ` +
      `--before ${monthAfter(youngest)}, which also archives ${youngest}, is possible from ${new Date(archivableFromMs(youngest)).toISOString().slice(0, 10)}`,
  );
}
