import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, expect, test } from "vitest";
import { ConfigError, requireAll } from "./config-error.ts";
import { describeSettings } from "./docs.ts";
import { readGroups, readSettings, validGroups } from "./env.ts";
import {
  choice,
  ed25519Key,
  evmAddresses,
  flag,
  integer,
  list,
  privateKey,
  secret,
  secretUrl,
  text,
  url,
  usd,
} from "./kinds.ts";

const dir = mkdtempSync(join(tmpdir(), "causeway-config-"));
afterAll(() => rmSync(dir, { recursive: true }));

const settings = {
  port: integer({ name: "PORT", min: 1, max: 65_535, default: 3000, describe: "Port." }),
  name: text({ name: "NAME", describe: "Name." }),
  key: privateKey({ name: "KEY", describe: "Key." }),
  extra: text({ name: "EXTRA", describe: "Extra.", optional: true }),
};
const CHECKSUMMED = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const KEY = `0x${"ab".repeat(32)}`;

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("an unset or empty variable gives its default, or undefined if it is optional", () => {
  const values = readSettings(settings, { NAME: "n", KEY, PORT: "", EXTRA: " " });
  expect(values.port).toBe(3000);
  expect(values.extra).toBeUndefined();
});

test("reports all problems at once and quotes no value", () => {
  const problems = problemsOf(() => readSettings(settings, { PORT: "70000", KEY: "0xmysecret" }));
  expect(problems).toHaveLength(3);
  expect(problems.map((p) => p.split(" ")[0])).toEqual(["PORT", "NAME", "KEY"]);
  expect(problems.join()).not.toContain("70000");
  expect(problems.join()).not.toContain("mysecret");
});

test("reports a wrong checksum by its position in the list, without the value", () => {
  const form = evmAddresses({ name: "IT", describe: "", form: "addresses", pattern: /^.*$/ });
  const wrong = CHECKSUMMED.replace("d8", "D8");
  expect(problemsOf(() => readSettings({ it: form }, { IT: `${CHECKSUMMED},${wrong}` }))).toEqual([
    "IT entry 2 has an invalid EIP-55 checksum; compare it with its source for a mistyped digit or case",
  ]);
  expect(problemsOf(() => readSettings({ it: form }, { IT: wrong }))).toEqual([
    "IT has an invalid EIP-55 checksum; compare it with its source for a mistyped digit or case",
  ]);
});

test("reads all groups, or reports the problems of every group", () => {
  const groups = { main: settings, other: { level: text({ name: "LEVEL", describe: "Level." }) } };
  expect(readGroups(groups, { NAME: "n", KEY, LEVEL: "l" })).toMatchObject({
    main: { port: 3000, name: "n" },
    other: { level: "l" },
  });
  expect(problemsOf(() => readGroups(groups, { NAME: "n", KEY, PORT: "0" }))).toEqual([
    "PORT must be an integer from 1 to 65535",
    "LEVEL is required: text",
  ]);
});

test("keeps the valid settings of every group, with their defaults, and leaves out the others", () => {
  expect(validGroups({ main: settings }, { PORT: "70000", KEY: "0x12", NAME: "n" })).toEqual({
    main: { name: "n", extra: undefined },
  });
});

test("requires every part once no problem is reported", () => {
  expect(requireAll({ a: 1, b: "" }, [])).toEqual({ a: 1, b: "" });
  expect(problemsOf(() => requireAll({ a: undefined }, ["PORT is required"]))).toEqual(["PORT is required"]);
  expect(problemsOf(() => requireAll({ a: undefined }, []))).toEqual([
    "invariant violated: a missing without a reported problem",
  ]);
});

test("a secret is printed only by reveal()", () => {
  const { key } = readSettings(settings, { NAME: "n", KEY: KEY.slice(2).toUpperCase() });
  expect(key.reveal()).toBe(KEY);
  const shown = [
    String(key),
    `${key}`,
    JSON.stringify({ key }),
    inspect({ key }, { showHidden: true }),
  ].join();
  expect(shown).not.toContain("abab");
  expect(shown.match(/\[secret\]/g)).toHaveLength(4);
});

test("reads a secret from its variable or its file, but not from both", () => {
  const file = join(dir, "key");
  writeFileSync(file, `${KEY}\n`);
  expect(readSettings({ key: settings.key }, { KEY_FILE: file }).key.reveal()).toBe(KEY);
  expect(problemsOf(() => readSettings({ key: settings.key }, { KEY, KEY_FILE: file }))).toHaveLength(1);
  expect(problemsOf(() => readSettings({ key: settings.key }, { KEY_FILE: join(dir, "none") }))[0]).toContain(
    "ENOENT",
  );
});

test("an empty file is a problem, not an unset value", () => {
  const file = join(dir, "empty");
  writeFileSync(file, " \n");
  expect(problemsOf(() => readSettings({ key: settings.key }, { KEY_FILE: file }))).toEqual([
    "KEY_FILE names an empty file",
  ]);
});

const it = { name: "IT", describe: "" };

test.each([
  [integer({ ...it, min: 0, max: 10 }), ["-1", "11", "1.5", "0x1", "1e1", "NaN", "", " "], ["0", "10"]],
  [flag(it), ["1", "yes", "TRUE"], ["true", "false"]],
  [choice({ ...it, values: ["a", "b"] }), ["A", "c"], ["a", "b"]],
  [url({ ...it, schemes: ["http", "https"] }), ["ftp://x", "x", "http:"], ["http://x/y/", "https://x?k=1"]],
  [
    url({ ...it, schemes: ["redis", "rediss"] }),
    ["redis:6379", "redis:/6379"],
    ["redis://h:1", "rediss://h"],
  ],
  [secretUrl({ ...it, schemes: ["redis"] }), ["redis:6379"], ["redis://h:6379"]],
  [
    evmAddresses({
      ...it,
      form: "addresses separated by `;`",
      pattern: /^0x[0-9a-fA-F]{40}(;0x[0-9a-fA-F]{40})*;?$/,
    }),
    ["0x12", `${CHECKSUMMED.replace("d8", "D8")}`, `${CHECKSUMMED};${CHECKSUMMED.replace("5", "6")}`],
    [CHECKSUMMED, `${CHECKSUMMED.toLowerCase()};`, `0x${"AB".repeat(20)};${CHECKSUMMED}`],
  ],
  [usd(it), ["1,5", "-1", "1.0000000000000000001", "1e3", ".5"], ["0.25", "1"]],
  [list(it), ["a,,b", ","], ["a", "a, b"]],
  [privateKey(it), ["0x12", "g".repeat(64)], ["ab".repeat(32)]],
  [
    ed25519Key(it),
    ["0x12", `[${"1,".repeat(31)}1]`, `[${"1,".repeat(63)}256]`, `[${"1,".repeat(64)}]`],
    ["ab".repeat(32), `[${"1,".repeat(63)}255]`, `[ ${"1, ".repeat(63)}1 ]`],
  ],
])("kind %# accepts its values and nothing else", (setting, bad, good) => {
  const parse = (value: string) => problemsOf(() => readSettings({ it: setting }, { IT: value }));
  for (const value of bad) expect(parse(value), value).toHaveLength(1);
  for (const value of good) expect(parse(value), value).toHaveLength(0);
});

test("documents every variable with its default", () => {
  const markdown = describeSettings([
    {
      title: "One",
      settings: { ...settings, token: secret({ name: "TOKEN", describe: "a | b", optional: true }) },
    },
  ]);
  expect(markdown).toContain("| `PORT` | integer 1..65535 | `3000` | Port. |");
  expect(markdown).toContain(
    "| `KEY` or `KEY_FILE` | 32-byte hex private key, secret | **required** | Key. |",
  );
  expect(markdown).toContain("| `TOKEN` or `TOKEN_FILE` | secret text | none | a \\| b |");
});
