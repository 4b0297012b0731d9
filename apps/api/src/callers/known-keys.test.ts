import { expect, test } from "vitest";
import { anApiKey } from "../../../../test/fakes/api-keys.ts";
import { knownKeys, type StoredKey } from "./known-keys.adapter.ts";
import { newSecret } from "./api-key-secret.adapter.ts";

/** A store that answers on command, and a stopped clock. */
function aStore() {
  let nowMs = 1_000_000;
  const { id, key, secretHash } = newSecret();
  const stored: StoredKey = { identity: anApiKey({ id }), secretHash, previous: undefined };
  const questions: PromiseWithResolvers<StoredKey | undefined>[] = [];
  const keys = knownKeys(
    () => {
      const question = Promise.withResolvers<StoredKey | undefined>();
      questions.push(question);
      return question.promise;
    },
    { clock: { nowMs: () => nowMs } },
  );
  return { id, key, stored, keys, questions, forward: (ms: number) => (nowMs += ms) };
}

test("an answer that was read during a change is used once and not cached", async () => {
  const { id, key, stored, keys, questions } = aStore();
  const first = keys.find(key);
  keys.forget(id);
  questions[0]?.resolve(stored);
  expect(await first).toBe(stored.identity);
  const second = keys.find(key);
  expect(questions).toHaveLength(2);
  questions[1]?.resolve(undefined);
  expect(await second).toBeUndefined();
});

test("a request after a change does not get the answer of an earlier read", async () => {
  const { id, key, stored, keys, questions } = aStore();
  const early = keys.find(key);
  keys.forget(id);
  const late = keys.find(key);
  questions[0]?.resolve(stored);
  questions[1]?.resolve(undefined);
  expect([await early, await late]).toEqual([stored.identity, undefined]);
});

test("a key is known from its first read until it changes", async () => {
  const { id, key, stored, keys, questions } = aStore();
  const nobodys = newSecret().key;
  expect(keys.isFamiliar(key)).toBe(false);
  const found = keys.find(key);
  questions[0]?.resolve(stored);
  await found;
  const missing = keys.find(nobodys);
  questions[1]?.resolve(undefined);
  await missing;
  const withAnotherSecret = newSecret(id).key;
  expect([key, withAnotherSecret, nobodys, "none"].map(keys.isFamiliar)).toEqual([true, true, false, false]);
  keys.forget(id);
  expect(keys.isFamiliar(key)).toBe(false);
});

test("the age of an answer counts from the start of its read", async () => {
  const { key, stored, keys, questions, forward } = aStore();
  const first = keys.find(key);
  forward(899);
  questions[0]?.resolve(stored);
  await first;
  forward(1);
  const second = keys.find(key);
  expect(questions).toHaveLength(2);
  questions[1]?.resolve(undefined);
  expect(await second).toBeUndefined();
});

test("a key in use is refreshed in the background, and a failure there does not affect requests", async () => {
  const { key, stored, keys, questions, forward } = aStore();
  const first = keys.find(key);
  questions[0]?.resolve(stored);
  await first;
  forward(450);
  expect(await keys.find(key)).toBe(stored.identity);
  expect(questions).toHaveLength(2);
  questions[1]?.reject(new Error("down"));
  expect(await keys.find(key)).toBe(stored.identity);
  forward(450);
  const late = keys.find(key);
  questions.at(-1)?.reject(new Error("down"));
  await expect(late).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
});

test("a clock that was set back does not cache a key longer", async () => {
  const { key, stored, keys, questions, forward } = aStore();
  const first = keys.find(key);
  questions[0]?.resolve(stored);
  await first;
  forward(-3_600_000);
  void keys.find(key);
  expect(questions).toHaveLength(2);
});

test("refuses requests beyond the limit of waiting reads", async () => {
  const { keys, questions } = aStore();
  const finds = Array.from({ length: 2_001 }, (_, index) =>
    keys.find(`cwk_${index.toString(16).padStart(16, "0")}_${"A".repeat(43)}`),
  );
  await expect(finds.at(-1)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  for (const question of questions) question.resolve(undefined);
  expect(await finds[0]).toBeUndefined();
});
