import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { readByKey } from "./read-by-key.ts";

function recordedReads() {
  const reads: (readonly number[])[] = [];
  const answers: (() => void)[] = [];
  const read = readByKey(
    async (keys: readonly number[]) => {
      reads.push(keys);
      await new Promise<void>((resolve) => answers.push(resolve));
      return keys.filter((key) => key > 0).map((key) => ({ key, text: `row ${key}` }));
    },
    ({ key }) => key,
  );
  return { read, reads, answer: () => answers.shift()?.() };
}

test("reads all keys of one turn in one statement, each key once", async () => {
  const { read, reads, answer } = recordedReads();
  const rows = Promise.all([read(1), read(2), read(1), read(-3)]);
  await nextTurn();
  answer();
  expect(await rows).toEqual([
    { key: 1, text: "row 1" },
    { key: 2, text: "row 2" },
    { key: 1, text: "row 1" },
    undefined,
  ]);
  expect(reads).toEqual([[1, 2, -3]]);
});

test("a read requested while others run starts later, so that it sees everything committed before", async () => {
  const { read, reads, answer } = recordedReads();
  const first = read(1);
  await nextTurn();
  const again = read(1);
  await nextTurn();
  answer();
  answer();
  await Promise.all([first, again]);
  expect(reads).toEqual([[1], [1]]);
});

test("rows that cannot be read fail no other read", async () => {
  const read = readByKey(
    async (keys: readonly number[]) => {
      const broken = keys.find((key) => key === 1 || key === 2);
      if (broken !== undefined) throw new Error(`row ${broken} is broken`);
      return keys.map((key) => ({ key }));
    },
    ({ key }) => key,
  );
  const results = await Promise.allSettled([read(1), read(2), read(3)]);
  expect(results).toMatchObject([
    { reason: { message: "row 1 is broken" } },
    { reason: { message: "row 2 is broken" } },
    { value: { key: 3 } },
  ]);
});

test.each([
  ["Query read timeout", undefined],
  ["Connection terminated unexpectedly", undefined],
  ["sorry, too many clients already", "53300"],
  ["terminating connection due to administrator command", "57P01"],
])("sends one statement for all keys to a database that does not answer: %s", async (message, code) => {
  let statements = 0;
  const read = readByKey(
    async (_: readonly number[]): Promise<{ key: number }[]> => {
      statements++;
      throw Object.assign(new Error(message), code !== undefined && { code });
    },
    ({ key }) => key,
  );
  const results = await Promise.allSettled([read(1), read(2), read(3)]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(statements).toBe(1);
});
