import { expect, test } from "vitest";
import { pooledRandomBytes } from "./pooled-bytes.adapter.ts";

test("returns no word twice, beyond the end of a pool and across two sources", () => {
  const [first, second] = [pooledRandomBytes(), pooledRandomBytes()];
  const words = Array.from({ length: 2_000 }, (_, n) => (n % 3 === 0 ? second : first).bytes32());
  expect(new Set(words).size).toBe(2_000);
  for (const word of words) expect(word).toMatch(/^0x[0-9a-f]{64}$/);
});
