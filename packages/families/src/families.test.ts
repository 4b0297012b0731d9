import { readdirSync } from "node:fs";
import { join } from "node:path";
import { FAMILY_IDS } from "@causeway/domain";
import { expect, test } from "vitest";
import { families } from "./families.ts";

/** What every family has: `answers.ts` validates what nodes answered, and the others judge it. */
const FILES = [
  "answers.ts",
  "deposits.ts",
  "family.ts",
  "finality.ts",
  "index.ts",
  "payments.ts",
  "withdrawals.ts",
];

test("the folders are the families of the list", () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(folders.toSorted()).toEqual([...FAMILY_IDS].toSorted());
});

test.each(FAMILY_IDS)("%s judges in the files that every family has", async (family) => {
  expect(readdirSync(join(import.meta.dirname, family))).toEqual(expect.arrayContaining(FILES));
  expect((await families[family]()).id).toBe(family);
});
