import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ConfigError } from "./config-error.ts";
import { parseVaultFile, withVaultSecrets } from "./vault.ts";

const dir = mkdtempSync(join(tmpdir(), "causeway-vault-"));
afterAll(() => rmSync(dir, { recursive: true }));

test("reads lines literally: nothing is executed or expanded", () => {
  const file = [
    "# comment",
    "",
    "export A=1",
    "B='x y'",
    'C="q=1"',
    "D=$(touch /tmp/x)`id`$HOME",
    "E=",
    "F='half\"",
  ].join("\r\n");
  expect(parseVaultFile(file, "f")).toEqual({
    A: "1",
    B: "x y",
    C: "q=1",
    D: "$(touch /tmp/x)`id`$HOME",
    E: "",
    F: "'half\"",
  });
});

test("reports a line that is not an assignment by its number, not its content", () => {
  expect(() => parseVaultFile("A=1\nhunter2", "secrets")).toThrow(/secrets:2/);
  expect(() => parseVaultFile("A=1\nhunter2", "secrets")).not.toThrow(/hunter2/);
});

test("files override the environment, later file names winning; hidden files and folders are ignored", () => {
  writeFileSync(join(dir, "b"), "X=b\nY=b");
  writeFileSync(join(dir, "a"), "X=a\nZ=a");
  writeFileSync(join(dir, ".hidden"), "X=hidden");
  mkdirSync(join(dir, "folder"));
  const env = withVaultSecrets({ VAULT_SECRETS_DIR: dir, X: "env", W: "env" });
  expect(env).toMatchObject({ X: "b", Y: "b", Z: "a", W: "env" });
});

test("reports a removed file and an invalid line together", () => {
  const broken = join(dir, "broken");
  mkdirSync(broken);
  symlinkSync(join(dir, "gone"), join(broken, "a"));
  writeFileSync(join(broken, "b"), "hunter2");
  let problems: readonly string[] = [];
  try {
    withVaultSecrets({ VAULT_SECRETS_DIR: broken });
  } catch (error) {
    problems = (error as ConfigError).problems;
  }
  expect(problems).toEqual([
    `${join(broken, "a")}: file is unreadable (ENOENT)`,
    `${join(broken, "b")}:1: expected a KEY=VALUE line`,
  ]);
});

test("leaves the environment unchanged if the folder does not exist", () => {
  expect(withVaultSecrets({ VAULT_SECRETS_DIR: join(dir, "none"), X: "1" })).toMatchObject({ X: "1" });
});
