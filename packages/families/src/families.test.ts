import { readdirSync } from "node:fs";
import { FAMILY_IDS, FAMILY_VM_TYPES } from "@causeway/domain";
import { expect, test } from "vitest";
import { families } from "./families.ts";

test("there is one folder per listed family", () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(folders.toSorted()).toEqual([...FAMILY_IDS].toSorted());
});

test.each(FAMILY_IDS)("%s has its name, its address format and all its files", async (id) => {
  const { codec, files, ...family } = families[id];
  expect([family.id, codec.vmType]).toEqual([id, FAMILY_VM_TYPES[id]]);
  for (const load of Object.values(files)) expect(Object.keys(await load())).not.toEqual([]);
  expect(await files.family()).toHaveProperty(`${id}.id`, id);
});
