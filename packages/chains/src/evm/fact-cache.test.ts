import fc from "fast-check";
import { expect, test } from "vitest";
import { createFactCache } from "./fact-cache.ts";

test("the cache never exceeds its limits, and always contains the newest fact that fits", () => {
  const steps = fc.array(fc.record({ key: fc.nat(9), size: fc.integer({ min: 1, max: 60 }) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(steps, (facts) => {
      const cache = createFactCache<number>({ entries: 4, bytes: 100, sizeOf: (size) => size });
      for (const { key, size } of facts) {
        cache.set(`${key}`, size);
        const cached = Array.from({ length: 10 }, (_, index) => cache.get(`${index}`)).filter(
          (fact) => fact !== undefined,
        );
        expect(cached.length).toBeLessThanOrEqual(4);
        expect(cached.reduce((sum, fact) => sum + fact, 0)).toBeLessThanOrEqual(100);
        expect(cache.get(`${key}`)).toBe(size);
      }
    }),
  );
});

test("evicts the least recently used fact first", () => {
  const cache = createFactCache<number>({ entries: 9, bytes: 100, sizeOf: (size) => size });
  cache.set("a", 40);
  cache.set("b", 40);
  cache.get("a");
  cache.set("c", 40);
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([40, undefined, 40]);
});
