import { expect, test } from "vitest";
import { lookUpTurns } from "./look-up-turns.adapter.ts";

/** Look-ups that end on command, and the order in which they began. */
function lookUps() {
  let nowMs = 0;
  const turn = lookUpTurns(1, () => nowMs);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const start = (name: string, isSearch: boolean) => {
    const lookUp = turn(async () => {
      began.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    }, isSearch);
    const ended = lookUp.answer.then(
      () => "done",
      (error: { readonly code: string }) => error.code,
    );
    return { ...lookUp, ended };
  };
  const nextTurn = async (): Promise<void> =>
    await new Promise<void>((resolve) => void setImmediate(resolve));
  const endOne = async (): Promise<void> => {
    await nextTurn();
    ends.shift()?.();
    await nextTurn();
  };
  return { began, start, endOne, forward: (ms: number) => void (nowMs += ms) };
}

test("look-ups of quotes overtake earlier searches", async () => {
  const { began, start, endOne } = lookUps();
  start("under way", false);
  for (const name of ["search 1", "search 2"]) start(name, true);
  start("quote", false);
  const shared = start("search that a quote waits for", true);
  shared.prioritize();
  for (let n = 0; n < 5; n++) await endOne();
  expect(began).toEqual(["under way", "quote", "search that a quote waits for", "search 1", "search 2"]);
});

test("refuses waiting searches beyond fifty immediately, but not quotes", async () => {
  const { start, endOne, began } = lookUps();
  start("under way", false);
  const searches = Array.from({ length: 60 }, (_, n) => start(`search ${n}`, true));
  const quote = start("quote", false);
  const refused = await Promise.all(searches.slice(50).map(async ({ ended }) => await ended));
  expect(new Set(refused)).toEqual(new Set(["SERVICE_UNAVAILABLE"]));
  await endOne();
  expect(began).toEqual(["under way", "quote"]);
  await endOne();
  expect(await quote.ended).toBe("done");
});

test("a look-up whose caller has given up takes no turn", async () => {
  const { began, start, endOne, forward } = lookUps();
  start("under way", false);
  const late = start("late", false);
  forward(20_001);
  const fresh = start("fresh", true);
  await endOne();
  expect(await late.ended).toBe("SERVICE_UNAVAILABLE");
  await endOne();
  expect(await fresh.ended).toBe("done");
  expect(began).toEqual(["under way", "fresh"]);
});
