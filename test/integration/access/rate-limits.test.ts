import { Redis } from "ioredis";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { leasedLimits, type LeasedLimits } from "../../../apps/api/src/http/leased-limits.adapter.ts";
import { redisAt } from "../../../apps/api/src/db/redis-endpoint.ts";
import { connectLeaseStore, type LeaseStore } from "../../../apps/api/src/http/lease-store.adapter.ts";
import { testRedis } from "../../support/database.ts";

const { url, prefix } = testRedis();
const windowMs = 1_500;
const stores: LeaseStore[] = [];
let redis: Redis;

beforeAll(() => {
  redis = new Redis(url);
});
afterAll(() => {
  for (const store of stores) store.close();
  redis.disconnect();
});

/** The limits of one process, with its own connection. */
async function aProcess(redisUrl = url): Promise<LeasedLimits & { readonly faults: unknown[] }> {
  const store = await connectLeaseStore(redisAt(redisUrl), { prefix });
  stores.push(store);
  const faults: unknown[] = [];
  const limits = leasedLimits({
    lease: store.lease(windowMs),
    windowMs,
    nowMs: () => performance.now(),
    onFault: (error) => void faults.push(error),
  });
  return { ...limits, faults };
}

test("three processes under load together allow at most the limit per window, and nearly as much", async () => {
  const processes = await Promise.all([aProcess(), aProcess(), aProcess()]);
  const take = async (): Promise<number> => {
    const answers = await Promise.all(
      Array.from({ length: 900 }, async (_, index) => await processes[index % 3]?.take("load", 200)),
    );
    return answers.filter((use) => use !== undefined && use.used <= 200).length;
  };
  const first = await take();
  const again = await take();
  expect(first + again).toBeLessThanOrEqual(200);
  expect(first + again).toBeGreaterThanOrEqual(200 - 3 * 20);
  expect(processes.flatMap(({ faults }) => faults)).toEqual([]);
});

test("processes share the limit in every new window, whichever processes the calls go to", async () => {
  const processes = await Promise.all([aProcess(), aProcess()]);
  const passedAtMs: number[] = [];
  const endsAtMs = performance.now() + 3.2 * windowMs;
  while (performance.now() < endsAtMs) {
    for (const limits of processes) {
      const use = await limits.take("windows", 40);
      if (use.used <= 40) passedAtMs.push(performance.now());
    }
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
  // The windows are fixed: an interval of a window's length overlaps at most two of them.
  for (const fromMs of passedAtMs)
    expect(
      passedAtMs.filter((atMs) => atMs >= fromMs && atMs < fromMs + windowMs).length,
    ).toBeLessThanOrEqual(80);
  expect(passedAtMs.length).toBeLessThanOrEqual(4 * 40);
  expect(passedAtMs.length).toBeGreaterThan(60);
});

test("the count of a caller expires in Redis at the end of the window", async () => {
  const limits = await aProcess();
  await limits.take("gone", 10);
  const keys = () => redis.keys(`${prefix}:limit:gone`);
  expect(await keys()).toHaveLength(1);
  const [key = ""] = await keys();
  expect(await redis.pttl(key)).toBeLessThanOrEqual(windowMs);
  await expect.poll(keys, { timeout: 2 * windowMs }).toEqual([]);
});

test("while Redis is unreachable or does not answer, a process applies its own limits after one short delay", async () => {
  const silent = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
  const { port } = silent.address() as AddressInfo;
  for (const redisUrl of ["redis://127.0.0.1:1", `redis://127.0.0.1:${port}`]) {
    const limits = await aProcess(redisUrl);
    const startedAtMs = performance.now();
    const answers = [];
    for (let call = 0; call < 20; call++) answers.push(await limits.take(`b${call % 5}`, 3));
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    expect(answers.filter(({ used }) => used <= 3)).toHaveLength(15);
    expect(limits.faults.length).toBe(1);
  }
  silent.close();
});
