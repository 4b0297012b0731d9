import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

/** The same value with the keys of its objects in another order. */
function withReversedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReversedKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, field]) => [name, withReversedKeys(field)]),
  );
}

test("ignores the order of fields and preserves every value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(withReversedKeys(value))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("preserves the order of arrays", () => {
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test("omits undefined fields", () => {
  expect(canonicalJson({ b: undefined, a: null })).toBe(`{"a":null}`);
});

test("refuses what JSON cannot represent", () => {
  for (const value of [1n, Number.NaN, Infinity, () => 1, undefined, [undefined], Symbol("x")])
    expect(() => canonicalJson(value)).toThrow(TypeError);
});
