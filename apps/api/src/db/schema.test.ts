import { generateDrizzleJson, generateMigration } from "drizzle-kit/api";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as schema from "./schema.tables.ts";

const meta = new URL("../../migrations/meta/", import.meta.url);
const read = <T>(file: string): T => JSON.parse(readFileSync(new URL(file, meta), "utf8")) as T;

test("every change of a table has a migration", async () => {
  const { entries } = read<{ entries: { idx: number }[] }>("_journal.json");
  const newest = String(entries.at(-1)?.idx).padStart(4, "0");
  const snapshot = read<ReturnType<typeof generateDrizzleJson>>(`${newest}_snapshot.json`);
  const statements = await generateMigration(snapshot, generateDrizzleJson(schema, snapshot.id));
  expect(statements, "run `pnpm --filter @causeway/api exec drizzle-kit generate --name <change>`").toEqual(
    [],
  );
});
