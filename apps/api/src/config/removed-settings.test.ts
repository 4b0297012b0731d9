import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { removedSettings } from "./removed-settings.ts";
import { apiSettingGroups } from "./settings.ts";

test("docs/UPGRADING.md lists every removed setting with its fixed value", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../../../docs/UPGRADING.md"), "utf8");
  const listed = [...page.matchAll(/^\| `([A-Z_]+)`\s*\| `([^`]+)`/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(Object.fromEntries(listed)).toEqual(
    Object.fromEntries(Object.entries(removedSettings).map(([name, value]) => [name, String(value)])),
  );
});

test("a removed setting is no longer read", () => {
  const names = apiSettingGroups.flatMap(({ settings }) => Object.values(settings).map(({ name }) => name));
  expect(names.filter((name) => name in removedSettings)).toEqual([]);
});
