import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ephemeralWarning, suggestPortBase, readEphemeralRange } from "./ephemeral-ports.ts";
import { isPortFree } from "@causeway/testkit";
import { defaultPortBase } from "./local-chains.ts";

const linuxRange = { from: 32_768, to: 60_999 };

test("warns about a port base inside the range of outgoing connections, and suggests a free one outside", async () => {
  const warning = await ephemeralWarning(45_500, linuxRange);
  expect(warning).toMatch(
    /^ports 45500 to 45525: this machine uses 32768 to 60999 for outgoing connections, .*; use --port-base \d+$/,
  );
  const suggestedBase = Number(/\d+$/.exec(warning ?? "")?.[0]);
  expect(suggestedBase).toBeLessThan(linuxRange.from);
  expect(await isPortFree(suggestedBase)).toBe(true);
});

test("checks all ports of the system, and does not warn if they are outside the range", async () => {
  expect(await ephemeralWarning(linuxRange.from - 25, linuxRange)).toBeDefined();
  expect(await ephemeralWarning(linuxRange.from - 26, linuxRange)).toBeUndefined();
  expect(await ephemeralWarning(linuxRange.to, linuxRange)).toBeDefined();
  expect(await ephemeralWarning(linuxRange.to + 1, linuxRange)).toBeUndefined();
  expect(await ephemeralWarning(45_500, undefined)).toBeUndefined();
});

test("does not suggest a base that is taken, or any base if the range leaves none", async () => {
  const server = createServer();
  if (await isPortFree(defaultPortBase)) server.listen(defaultPortBase, "127.0.0.1");
  try {
    expect(await ephemeralWarning(45_500, linuxRange)).not.toContain(`--port-base ${defaultPortBase}`);
  } finally {
    server.close();
  }
  expect(await ephemeralWarning(45_500, { from: 1_024, to: 65_535 })).not.toContain("--port-base");
});

test("suggests the next hundred as the port base, or one outside the range of outgoing connections", async () => {
  expect(await suggestPortBase(18_500, linuxRange)).toBe(18_600);
  expect(await suggestPortBase(45_500, undefined)).toBe(45_600);
  expect(await suggestPortBase(45_500, linuxRange)).toBeLessThan(linuxRange.from);
  expect(await suggestPortBase(32_700, linuxRange)).toBeLessThan(linuxRange.from);
});

test("reads the range in the format of Linux; undefined without the file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "ephemeral-"));
  const file = join(folder, "range");
  await writeFile(file, "32768\t60999\n");
  expect(await readEphemeralRange(file)).toEqual(linuxRange);
  expect(await readEphemeralRange(join(folder, "none"))).toBeUndefined();
  await rm(folder, { recursive: true });
});
