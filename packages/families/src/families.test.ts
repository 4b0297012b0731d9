import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FAMILY_IDS, type FamilyId } from "./families.ts";

/** What every family has: `answers.ts` validates what nodes answered, and the others judge it. */
const FILES = ["answers.ts", "deposits.ts", "finality.ts", "index.ts", "payments.ts", "withdrawals.ts"];

test("the folders are the families of the list", () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(folders.toSorted()).toEqual([...FAMILY_IDS].toSorted());
});

test.each<FamilyId>(FAMILY_IDS)("%s judges in the files that every family has", (family) => {
  expect(readdirSync(join(import.meta.dirname, family))).toEqual(expect.arrayContaining(FILES));
});
