import fc from "fast-check";
import { expect, test } from "vitest";
import { rememberedFacts } from "./remembered-facts.ts";

test("the cache never exceeds its limits, and always contains the newest fact that fits", () => {
  const steps = fc.array(fc.record({ key: fc.nat(9), size: fc.integer({ min: 1, max: 60 }) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(steps, (facts) => {
      const memory = rememberedFacts<number>({ entries: 4, bytes: 100, sizeOf: (size) => size });
      for (const { key, size } of facts) {
        memory.set(`${key}`, size);
        const kept = Array.from({ length: 10 }, (_, at) => memory.get(`${at}`)).filter(
          (fact) => fact !== undefined,
        );
        expect(kept.length).toBeLessThanOrEqual(4);
        expect(kept.reduce((sum, fact) => sum + fact, 0)).toBeLessThanOrEqual(100);
        expect(memory.get(`${key}`)).toBe(size);
      }
    }),
  );
});

test("evicts the least recently used fact first", () => {
  const memory = rememberedFacts<number>({ entries: 9, bytes: 100, sizeOf: (size) => size });
  memory.set("a", 40);
  memory.set("b", 40);
  memory.get("a");
  memory.set("c", 40);
  expect([memory.get("a"), memory.get("b"), memory.get("c")]).toEqual([40, undefined, 40]);
});
