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
  let asked = 0;
  const one = () => facts.read("one", () => later(++asked));
  expect(await facts.decide(() => one() + one())).toBe(2);
  expect(await facts.decide(one)).toBe(1);
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
  let asked = 0;
  const gone = () =>
    facts.read("gone", async () => {
      asked++;
      await later(undefined);
      throw new Error("gone");
    });
  const decision = (): string => {
    try {
      return gone();
    } catch (error) {
      if (error instanceof Error && error.message === "gone") return "without it";
      throw error;
    }
  };
  expect(await facts.decide(decision)).toBe("without it");
  await expect(facts.decide(gone)).rejects.toThrow("gone");
  const broken = () =>
    facts.read("broken", () => {
      throw new Error("broken");
    });
  await expect(facts.decide(broken)).rejects.toThrow("broken");
  expect(asked).toBe(1);
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
