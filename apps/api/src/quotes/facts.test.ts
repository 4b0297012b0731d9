import { expect, test } from "vitest";
import { createFacts } from "./facts.ts";

const later = async <T>(value: T): Promise<T> => await Promise.resolve(value);

test("runs a decision once when all its facts are in memory", async () => {
  const facts = createFacts();
  let runs = 0;
  const decision = () => {
    runs++;
    return facts.read("a", () => 1) + facts.read("b", () => 2);
  };
  expect(await facts.decide(decision)).toBe(3);
  expect(runs).toBe(1);
});

test("fetches a missing fact once and runs the decision again with the same value", async () => {
  const facts = createFacts();
  let fetches = 0;
  const readOnce = () => facts.read("one", () => later(++fetches));
  expect(await facts.decide(() => readOnce() + readOnce())).toBe(2);
  expect(await facts.decide(readOnce)).toBe(1);
});

test("a fact may depend on another", async () => {
  const facts = createFacts();
  const decision = (): number => {
    const first = facts.read("first", () => later(20));
    return first + facts.read(`second of ${first}`, () => later(first + 2));
  };
  expect(await facts.decide(decision)).toBe(42);
});

test("fetches facts that are read together at the same time", async () => {
  const facts = createFacts();
  let [waiting, maxWaiting] = [0, 0];
  const slow = (key: string) =>
    facts.read(key, async () => {
      maxWaiting = Math.max(maxWaiting, ++waiting);
      await later(undefined);
      waiting--;
      return key;
    });
  const decision = (): string => {
    facts.together(
      () => slow("a"),
      () => slow("b"),
    );
    return slow("a") + slow("b");
  };
  expect(await facts.decide(decision)).toBe("ab");
  expect(maxWaiting).toBe(2);
});

test("throws the error of a fact at every read, and fetches the fact only once", async () => {
  const facts = createFacts();
  let fetches = 0;
  const readGone = () =>
    facts.read("gone", async () => {
      fetches++;
      await later(undefined);
      throw new Error("gone");
    });
  const decision = (): string => {
    try {
      return readGone();
    } catch (error) {
      if (error instanceof Error && error.message === "gone") return "without it";
      throw error;
    }
  };
  expect(await facts.decide(decision)).toBe("without it");
  await expect(facts.decide(readGone)).rejects.toThrow("gone");
  const readBroken = () =>
    facts.read("broken", () => {
      throw new Error("broken");
    });
  await expect(facts.decide(readBroken)).rejects.toThrow("broken");
  expect(fetches).toBe(1);
});

test("an error of one fact does not affect other facts, and no rejection remains unhandled", async () => {
  const facts = createFacts();
  const failing = () => facts.read("failing", async () => await Promise.reject(new Error("failing")));
  const fine = () => facts.read("fine", () => later("fine"));
  const decision = (): string => {
    facts.together(failing, fine);
    return fine();
  };
  expect(await facts.decide(decision)).toBe("fine");
});
