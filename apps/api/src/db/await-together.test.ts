import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { awaitTogether } from "./await-together.ts";

const failing = async (code: string, afterMs: number): Promise<never> => {
  await sleep(afterMs);
  throw Object.assign(new Error(code), { code });
};

test("returns all answers, in order", async () => {
  const answers: [number, string] = await awaitTogether([Promise.resolve(1), sleep(5, "two")]);
  expect(answers).toEqual([1, "two"]);
});

test("rejects with a deadlock, even if a statement that it aborted rejects first", async () => {
  const answers = awaitTogether([failing("40P01", 20), failing("25P02", 0), Promise.resolve(3)]);
  await expect(answers).rejects.toHaveProperty("code", "40P01");
});

test("rejects as aborted if the statement that failed first is not among the answers", async () => {
  await expect(awaitTogether([failing("25P02", 0), failing("25P02", 5)])).rejects.toHaveProperty(
    "code",
    "25P02",
  );
});
