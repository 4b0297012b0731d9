import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { describeSettings } from "./docs.ts";
import { readSettings, validSettings } from "./env.ts";
import {
  choice,
  decimal,
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
  port: integer(1, 65_535)({ name: "PORT", describe: "Port.", default: 3000 }),
  name: text({ name: "NAME", describe: "Name." }),
  key: privateKey({ name: "KEY", describe: "Key." }),
  extra: text({ name: "EXTRA", describe: "Extra.", optional: true }),
};
const SPELLED = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
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

test("an absent or empty variable takes its default, and an optional one is undefined", () => {
  const values = readSettings(settings, { NAME: "n", KEY, PORT: "", EXTRA: " " });
  expect(values.port).toBe(3000);
  expect(values.extra).toBeUndefined();
});

test("every problem is reported at once, and none quotes a value", () => {
  const problems = problemsOf(() => readSettings(settings, { PORT: "70000", KEY: "0xmysecret" }));
  expect(problems).toHaveLength(3);
  expect(problems.map((p) => p.split(" ")[0])).toEqual(["PORT", "NAME", "KEY"]);
  expect(problems.join()).not.toContain("70000");
  expect(problems.join()).not.toContain("mysecret");
});

test("a wrong checksum is told by its place in the list, and the value is not repeated", () => {
  const form = evmAddresses("addresses", /^.*$/)({ name: "IT", describe: "" });
  const wrong = SPELLED.replace("d8", "D8");
  expect(problemsOf(() => readSettings({ it: form }, { IT: `${SPELLED},${wrong}` }))).toEqual([
    "IT entry 2 has an invalid EIP-55 checksum; compare it with its source for a mistyped digit or case",
  ]);
  expect(problemsOf(() => readSettings({ it: form }, { IT: wrong }))).toEqual([
    "IT has an invalid EIP-55 checksum; compare it with its source for a mistyped digit or case",
  ]);
});

test("valid settings are those that are right, with their defaults; what is wrong is left out", () => {
  expect(validSettings(settings, { PORT: "70000", KEY: "0x12", NAME: "n" })).toEqual({
    name: "n",
    extra: undefined,
  });
});

test("a secret shows itself only when asked", () => {
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

test("a secret may come from a file, but not from both places", () => {
  const file = join(dir, "key");
  writeFileSync(file, `${KEY}\n`);
  expect(readSettings({ key: settings.key }, { KEY_FILE: file }).key.reveal()).toBe(KEY);
  expect(problemsOf(() => readSettings({ key: settings.key }, { KEY, KEY_FILE: file }))).toHaveLength(1);
  expect(problemsOf(() => readSettings({ key: settings.key }, { KEY_FILE: join(dir, "none") }))[0]).toContain(
    "ENOENT",
  );
});

test("a file that is named and empty is a problem, not an absent value", () => {
  const file = join(dir, "empty");
  writeFileSync(file, " \n");
  expect(problemsOf(() => readSettings({ key: settings.key }, { KEY_FILE: file }))).toEqual([
    "KEY_FILE names an empty file",
  ]);
});

test.each([
  [integer(0, 10), ["-1", "11", "1.5", "0x1", "1e1", "NaN", "", " "], ["0", "10"]],
  [decimal(0, 10), ["-1", "10.1", "1e1", ".5", "Infinity"], ["0", "9.75"]],
  [flag, ["1", "yes", "TRUE"], ["true", "false"]],
  [choice("a", "b"), ["A", "c"], ["a", "b"]],
  [url("http", "https"), ["ftp://x", "x", "http:"], ["http://x/y/", "https://x?k=1"]],
  [url("redis", "rediss"), ["redis:6379", "redis:/6379"], ["redis://h:6379", "rediss://h"]],
  [secretUrl("redis"), ["redis:6379"], ["redis://h:6379"]],
  [
    evmAddresses("addresses separated by `;`", /^0x[0-9a-fA-F]{40}(;0x[0-9a-fA-F]{40})*;?$/),
    ["0x12", `${SPELLED.replace("d8", "D8")}`, `${SPELLED};${SPELLED.replace("5", "6")}`],
    [SPELLED, `${SPELLED.toLowerCase()};`, `0x${"AB".repeat(20)};${SPELLED}`],
  ],
  [usd, ["1,5", "-1", "1.0000000000000000001", "1e3"], ["0.25", "1"]],
  [list, ["a,,b", ","], ["a", "a, b"]],
  [privateKey, ["0x12", "g".repeat(64)], ["ab".repeat(32)]],
] as const)("kind %# takes what it names and nothing else", (kind, bad, good) => {
  const parse = (value: string) =>
    problemsOf(() => readSettings({ it: kind({ name: "IT", describe: "" }) }, { IT: value }));
  for (const value of bad) expect(parse(value), value).toHaveLength(1);
  for (const value of good) expect(parse(value), value).toHaveLength(0);
});

test("the documentation names every variable with its default and never a secret's value", () => {
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
