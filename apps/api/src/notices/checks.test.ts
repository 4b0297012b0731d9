import { expect, test } from "vitest";
import { workerChecks, workerPresence } from "./checks.ts";

const tasks = [
  { label: "base", lock: "watch:1" },
  { label: "settlement", lock: "settlement" },
];

function aPresenceCheck() {
  let nowMs = 0;
  let heldLocks: readonly string[] = [];
  const check = workerPresence(
    tasks,
    async () => new Set(heldLocks),
    () => nowMs,
  );
  return async (seconds: number, locks: readonly string[]) => {
    nowMs += seconds * 1_000;
    heldLocks = locks;
    return (await check()).map(
      ({ rule, subject, isOpen }) => `${rule} ${subject} ${isOpen ? "open" : "ended"}`,
    );
  };
}

test("reports the lack of a worker for a minute as one finding, not one per chain", async () => {
  const look = aPresenceCheck();
  const ended = ["worker_missing worker ended", "not_led base ended", "not_led settlement ended"];
  expect(await look(5, ["watch:1", "settlement"])).toEqual(ended);
  expect(await look(55, [])).toEqual([]);
  expect(await look(10, [])).toEqual(["worker_missing worker open"]);
  expect(await look(5, ["watch:1", "settlement"])).toEqual(ended);
});

test("a chain that no worker leads is named", async () => {
  const look = aPresenceCheck();
  await look(5, ["watch:1", "settlement"]);
  expect(await look(61, ["watch:1"])).toContain("not_led settlement open");
});

test("an API that has just started does not resolve the findings of another API", async () => {
  expect(await aPresenceCheck()(5, [])).toEqual([]);
});

test("reports a node after three minutes without a block, and its recovery with the first block", async () => {
  let [ageMs, uptimeMs] = [5_000, 5_000];
  const chain = { chain: { id: 1, name: "base", blockTimeSeconds: 2 }, pulse: { headAgeMs: () => ageMs } };
  const [nodes] = workerChecks({
    chains: { evmChains: [chain], nonEvmChains: [] } as unknown as Parameters<
      typeof workerChecks
    >[0]["chains"],
    clock: { nowMs: () => 0 },
    uptimeMs: () => uptimeMs,
    openPayments: async () => [],
    outbox: async () => ({ waiting: 0, oldestMs: undefined }),
    settling: async () => [],
    underWay: async () => [],
  });
  const open = async () => (await nodes?.())?.map(({ isOpen }) => isOpen);
  expect(await open()).toEqual([]);
  [ageMs, uptimeMs] = [181_000, 181_000];
  expect(await open()).toEqual([true]);
  [ageMs, uptimeMs] = [1_000, 182_000];
  expect(await open()).toEqual([false]);
});
