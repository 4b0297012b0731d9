import { expect, test } from "vitest";
import { workerPresence } from "./checks.ts";

const tasks = [
  { label: "base", lock: "watch:1" },
  { label: "settlement", lock: "settlement" },
];

function watched() {
  let nowMs = 0;
  let held: readonly string[] = [];
  const check = workerPresence(
    tasks,
    async () => new Set(held),
    () => nowMs,
  );
  return async (seconds: number, locks: readonly string[]) => {
    nowMs += seconds * 1_000;
    held = locks;
    return (await check()).filter(({ isOpen }) => isOpen).map(({ rule, subject }) => `${rule} ${subject}`);
  };
}

test("no worker for a minute is one finding, not one per chain", async () => {
  const look = watched();
  expect(await look(5, ["watch:1", "settlement"])).toEqual([]);
  expect(await look(55, [])).toEqual([]);
  expect(await look(10, [])).toEqual(["worker_missing worker"]);
  expect(await look(5, ["watch:1", "settlement"])).toEqual([]);
});

test("a chain that no worker leads is named", async () => {
  const look = watched();
  await look(5, ["watch:1", "settlement"]);
  expect(await look(61, ["watch:1"])).toEqual(["not_led settlement"]);
});
