import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { sentTogether } from "./sent-together.ts";

const failing = async (code: string, afterMs: number): Promise<never> => {
  await sleep(afterMs);
  throw Object.assign(new Error(code), { code });
};

test("returns all answers, in order", async () => {
  const answers: [number, string] = await sentTogether([Promise.resolve(1), sleep(5, "two")]);
  expect(answers).toEqual([1, "two"]);
});

test("fails by a deadlock, although the statements that it aborted failed before", async () => {
  const answers = sentTogether([failing("40P01", 20), failing("25P02", 0), Promise.resolve(3)]);
  await expect(answers).rejects.toHaveProperty("code", "40P01");
});

test("fails as aborted if an earlier statement failed", async () => {
  await expect(sentTogether([failing("25P02", 0), failing("25P02", 5)])).rejects.toHaveProperty(
    "code",
    "25P02",
  );
});
