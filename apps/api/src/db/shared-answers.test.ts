import { expect, onTestFinished, test, vi } from "vitest";
import { sharedAnswers } from "./shared-answers.ts";

function countedAnswers() {
  let nowMs = 0;
  let calls = 0;
  const share = sharedAnswers<number>({ keptMs: 1_000, limit: 2 }, () => nowMs);
  return {
    ask: (key: string) => share(key, async () => ++calls),
    fail: (key: string) => share(key, () => Promise.reject(new Error(`failure ${++calls}`))),
    forward: (ms: number) => (nowMs += ms),
    asked: () => calls,
  };
}

test("answers equal questions once if they are concurrent or follow within `keptMs`", async () => {
  const { ask, forward } = countedAnswers();
  expect(await Promise.all([ask("a"), ask("a"), ask("b")])).toEqual([1, 1, 2]);
  forward(999);
  expect(await ask("a")).toBe(1);
  forward(1);
  expect(await ask("a")).toBe(3);
});

test("shares a failure only while it is in progress", async () => {
  const { fail, ask } = countedAnswers();
  const [first, second] = await Promise.allSettled([fail("a"), fail("a")]);
  expect([first.status, second.status]).toEqual(["rejected", "rejected"]);
  expect(await ask("a")).toBe(2);
});

test("keeps only the newest answers, up to the limit", async () => {
  const { ask, asked } = countedAnswers();
  for (const key of ["a", "b", "c"]) await ask(key);
  await ask("c");
  expect(asked()).toBe(3);
  await ask("a");
  expect(asked()).toBe(4);
});

test("an answer expires in time even if the wall clock is set back", async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: 10_000_000 });
  onTestFinished(() => void vi.useRealTimers());
  const share = sharedAnswers<number>({ keptMs: 1_000, limit: 2 });
  let calls = 0;
  const ask = async () => await share("a", async () => ++calls);
  expect([await ask(), await ask()]).toEqual([1, 1]);
  vi.setSystemTime(1_000_000);
  vi.advanceTimersByTime(1_000);
  expect(await ask()).toBe(2);
});
