import { expect, test, vi } from "vitest";
import { createSearchLimiter } from "./search-limiter.ts";

const page = { name: "ip:1", hasSecretKey: false };
const otherPage = { name: "ip:2", hasSecretKey: false };
const app = { name: "key:1", hasSecretKey: true };
const otherApp = { name: "key:2", hasSecretKey: true };

/** Resolves once every search whose turn it is has begun. */
const untilStarted = async (): Promise<void> => await new Promise((resolve) => void setImmediate(resolve));

/** Searches that end on command, and the order in which they began. */
function searches() {
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    began,
    search: (name: string) => async (): Promise<string> => {
      began.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    },
    async end(name: string): Promise<void> {
      ends.get(name)?.();
      await untilStarted();
    },
  };
}

test("callers without a key do not use the places reserved for keys", async () => {
  const { run } = createSearchLimiter();
  const { began, search, end } = searches();
  const slow = [run(page, search("slow 1")), run(otherPage, search("slow 2"))];
  const quick = run(app, search("keyed"));
  await untilStarted();
  expect(began).toEqual(["slow 1", "keyed"]);
  await end("keyed");
  expect(await quick).toBe("keyed");
  await end("slow 1");
  expect(began).toEqual(["slow 1", "keyed", "slow 2"]);
  await end("slow 2");
  await Promise.all(slow);
});

test("a caller with many concurrent searches waits behind callers with one", async () => {
  const { run } = createSearchLimiter();
  const { began, search, end } = searches();
  const names = ["a1", "a2", "a3", "a4"];
  const searchesOfApp = names.map((name) => run(app, search(name)));
  const searchOfOtherApp = run(otherApp, search("b1"));
  await untilStarted();
  expect(began, "one key has two of the three places").toEqual(["a1", "a2", "b1"]);
  const searchOfThirdApp = run({ ...otherApp, name: "key:3" }, search("c1"));
  await end("a1");
  expect(began).toEqual(["a1", "a2", "b1", "a3"]);
  await end("b1");
  expect(began, "not a4: its caller has two places").toEqual(["a1", "a2", "b1", "a3", "c1"]);
  for (const name of ["a2", "a3", "a4", "c1"]) await end(name);
  await Promise.all([...searchesOfApp, searchOfOtherApp, searchOfThirdApp]);
});

test("a caller without a key pauses ten times as long as its slow search took, and no other caller does", async () => {
  let nowMs = 0;
  const { run } = createSearchLimiter(() => nowMs);
  const lasting = (ms: number) => async (): Promise<void> => void (nowMs += ms);
  await run(page, lasting(400));
  await run(page, lasting(2_000));
  await expect(run(page, lasting(1))).rejects.toMatchObject({
    code: "RATE_LIMITED",
    message: "The previous search of this caller took too long; retry in 20 s, or use a secret API key",
    facts: { retryAfterSeconds: 20 },
  });
  await run(otherPage, lasting(1));
  await run(app, lasting(2_000));
  await run(app, lasting(1));
  nowMs += 20_000;
  await run(page, lasting(1));
});

test("waiting searches are limited per caller, and a failed search frees its place", async () => {
  const { run } = createSearchLimiter();
  const { search, end } = searches();
  const first = run(page, search("1"));
  const waiting = ["2", "3", "4", "5", "6"].map((name) => run(page, search(name)));
  await untilStarted();
  await expect(run(page, search("7"))).rejects.toMatchObject({ code: "RATE_LIMITED" });
  for (const name of ["1", "2", "3", "4", "5", "6"]) await end(name);
  await Promise.all([first, ...waiting]);
  await expect(run(page, () => Promise.reject(new Error("down")))).rejects.toThrow("down");
  await run(page, async () => undefined);
});

test("a search without a turn in time is refused and leaves the queue", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { run } = createSearchLimiter();
    const { began, search, end } = searches();
    const first = run(page, search("1"));
    const late = run(otherPage, search("2")).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await late).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    await end("1");
    await first;
    expect(began).toEqual(["1"]);
  } finally {
    vi.useRealTimers();
  }
});
