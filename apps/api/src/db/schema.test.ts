import { generateDrizzleJson, generateMigration } from "drizzle-kit/api";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as schema from "./schema.tables.ts";

const meta = new URL("../../migrations/meta/", import.meta.url);
const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, meta), "utf8"));

test("every change of a table has a migration", async () => {
  const { entries } = read("_journal.json") as { entries: { idx: number }[] };
  const newest = String(entries.at(-1)?.idx).padStart(4, "0");
  const snapshot = read(`${newest}_snapshot.json`) as ReturnType<typeof generateDrizzleJson>;
  const statements = await generateMigration(snapshot, generateDrizzleJson(schema, snapshot.id));
  expect(statements, "run `pnpm --filter @causeway/api exec drizzle-kit generate --name <change>`").toEqual(
    [],
  );
});
