import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ArchiveFiles, ArchivePlan, ArchiveStore } from "../../reconcile/archive/archive.port.ts";
import { runArchive, type OpenArchives } from "./archive-command.ts";

let [stdout, stderr] = ["", ""];
beforeEach(() => {
  [stdout, stderr] = ["", ""];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdout += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

const unused = async (): Promise<never> => {
  throw new Error("changed something");
};
const files: ArchiveFiles = {
  claim: unused,
  folderOf: ({ month, part }) => `/archive/${month}/part-${part}`,
  clear: unused,
  write: unused,
  finish: unused,
  verify: unused,
};

/** Archives on December 15, 2026, with one plan per month. */
function archivesWith(plans: readonly ArchivePlan[]): OpenArchives {
  const store: ArchiveStore = {
    database: unused,
    months: async (before) => plans.map(({ month }) => month).filter((month) => month < before),
    plan: async (month) => plans.find((plan) => plan.month === month) ?? unused(),
    unfinished: unused,
    begin: unused,
    eventIds: unused,
    positions: unused,
    read: async function* () {
      yield await unused();
    },
    setExported: unused,
    removeEvents: unused,
    removeRequests: unused,
    setArchived: unused,
  };
  return () => ({
    begin: async () => ({ store, otherConnections: [], close: () => {} }),
    filesIn: () => files,
    nowMs: () => Date.UTC(2026, 11, 15),
    close: async () => {},
  });
}

const throwOnOpen = () => {
  throw new Error("opened");
};

test.for([
  ["no month", [], "--before must be a month like 2026-01, got nothing"],
  ["a day", ["--before", "2026-01-01"], "got 2026-01-01"],
  ["no folder", ["--before", "2026-01"], "--to is required: a folder for the files, outside the checkout"],
  ["an empty folder", ["--before", "2026-01", "--to", ""], "--to is required"],
  ["no connection", ["--before", "2026-01", "--to", "/a", "--connections", "0"], "from 1 to 16, got 0"],
  [
    "too many connections",
    ["--before", "2026-01", "--to", "/a", "--connections", "17"],
    "from 1 to 16, got 17",
  ],
  ["an unknown option", ["--before", "2026-01", "--force"], "--force"],
] as const)("%s is refused with the usage and exit code 2", async ([, args, problem]) => {
  expect(await runArchive(args, throwOnOpen)).toBe(2);
  expect(stderr).toContain(problem);
  expect(stderr).toContain("usage:");
});

test("refuses a month that the service still reads, and names the newest month that it does not", async () => {
  expect(await runArchive(["--before", "2026-12", "--to", "/archive"], archivesWith([]))).toBe(2);
  expect(stderr).toContain("--before must be at most 2026-11 today, got 2026-12");
  expect(stderr).toContain("--before 2026-12, which also archives 2026-11, is possible from 2026-12-31");
});

test("a dry run prints what would move, and changes nothing", async () => {
  const october = { month: "2026-10", requests: 3, open: 1, events: 20 } as const;
  const empty = { month: "2026-09", requests: 0, open: 0, events: 0 } as const;
  expect(await runArchive(["--before", "2026-11", "--dry-run"], archivesWith([empty, october]))).toBe(0);
  expect(stdout).toBe(`${JSON.stringify(october)}\n`);
});

test("reports when there is nothing to archive", async () => {
  expect(await runArchive(["--before", "2026-11", "--dry-run"], archivesWith([]))).toBe(0);
  expect([stdout, stderr]).toEqual(["", "nothing to archive before 2026-11\n"]);
});
