import { expect, test } from "vitest";
import { anApiKey } from "../../../../test/fakes/api-keys.ts";
import { knownKeys, type StoredKey } from "./known-keys.adapter.ts";
import { newSecret } from "./api-key-secret.adapter.ts";

/** A store that answers on command, and a stopped clock. */
function aStore() {
  let nowMs = 1_000_000;
  const { id, key, secretHash } = newSecret();
  const stored: StoredKey = { identity: anApiKey({ id }), secretHash, previous: undefined };
  const pendingReads: PromiseWithResolvers<StoredKey | undefined>[] = [];
  const keys = knownKeys(
    () => {
      const read = Promise.withResolvers<StoredKey | undefined>();
      pendingReads.push(read);
      return read.promise;
    },
    { clock: { nowMs: () => nowMs } },
  );
  return { id, key, stored, keys, pendingReads, forward: (ms: number) => (nowMs += ms) };
}

test("uses, but does not cache, a key that was read while it changed", async () => {
  const { id, key, stored, keys, pendingReads } = aStore();
  const first = keys.find(key);
  keys.forget(id);
  pendingReads[0]?.resolve(stored);
  expect(await first).toBe(stored.identity);
  const second = keys.find(key);
  expect(pendingReads).toHaveLength(2);
  pendingReads[1]?.resolve(undefined);
  expect(await second).toBeUndefined();
});

test("does not return the result of a read that started before a change", async () => {
  const { id, key, stored, keys, pendingReads } = aStore();
  const early = keys.find(key);
  keys.forget(id);
  const late = keys.find(key);
  pendingReads[0]?.resolve(stored);
  pendingReads[1]?.resolve(undefined);
  expect([await early, await late]).toEqual([stored.identity, undefined]);
});

test("a key is known from its first read until it changes", async () => {
  const { id, key, stored, keys, pendingReads } = aStore();
  const unknownKey = newSecret().key;
  expect(keys.isKnown(key)).toBe(false);
  const found = keys.find(key);
  pendingReads[0]?.resolve(stored);
  await found;
  const missing = keys.find(unknownKey);
  pendingReads[1]?.resolve(undefined);
  await missing;
  const withAnotherSecret = newSecret(id).key;
  expect([key, withAnotherSecret, unknownKey, "none"].map(keys.isKnown)).toEqual([true, true, false, false]);
  keys.forget(id);
  expect(keys.isKnown(key)).toBe(false);
});

test("measures the age of a cached key from the start of its read", async () => {
  const { key, stored, keys, pendingReads, forward } = aStore();
  const first = keys.find(key);
  forward(899);
  pendingReads[0]?.resolve(stored);
  await first;
  forward(1);
  const second = keys.find(key);
  expect(pendingReads).toHaveLength(2);
  pendingReads[1]?.resolve(undefined);
  expect(await second).toBeUndefined();
});

test("refreshes a key in use in the background, without failing requests if that fails", async () => {
  const { key, stored, keys, pendingReads, forward } = aStore();
  const first = keys.find(key);
  pendingReads[0]?.resolve(stored);
  await first;
  forward(450);
  expect(await keys.find(key)).toBe(stored.identity);
  expect(pendingReads).toHaveLength(2);
  pendingReads[1]?.reject(new Error("down"));
  expect(await keys.find(key)).toBe(stored.identity);
  forward(450);
  const late = keys.find(key);
  pendingReads.at(-1)?.reject(new Error("down"));
  await expect(late).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
});

test("does not cache a key for longer when the clock is set back", async () => {
  const { key, stored, keys, pendingReads, forward } = aStore();
  const first = keys.find(key);
  pendingReads[0]?.resolve(stored);
  await first;
  forward(-3_600_000);
  void keys.find(key);
  expect(pendingReads).toHaveLength(2);
});

test("refuses requests beyond the limit of pending reads", async () => {
  const { keys, pendingReads } = aStore();
  const finds = Array.from({ length: 2_001 }, (_, index) =>
    keys.find(`cwk_${index.toString(16).padStart(16, "0")}_${"A".repeat(43)}`),
  );
  await expect(finds.at(-1)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  for (const read of pendingReads) read.resolve(undefined);
  expect(await finds[0]).toBeUndefined();
});
