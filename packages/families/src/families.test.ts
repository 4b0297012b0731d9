import { readdirSync } from "node:fs";
import { FAMILY_IDS } from "@causeway/domain";
import { expect, test } from "vitest";
import { families } from "./families.ts";

test("there is one folder per listed family", () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(folders.toSorted()).toEqual([...FAMILY_IDS].toSorted());
});

test.each(FAMILY_IDS)("loads %s by its id", async (family) => {
  expect((await families[family]()).id).toBe(family);
});
