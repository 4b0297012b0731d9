import { expect, test } from "vitest";
import { parseTextArray } from "./pool.postgres.ts";

test.each<readonly [string, readonly (string | null)[]]>([
  ["{}", []],
  ["{0xab}", ["0xab"]],
  ["{0xab,0xcd}", ["0xab", "0xcd"]],
  ['{"a,b",c}', ["a,b", "c"]],
  [String.raw`{"say \"hi\"","back\\slash"}`, ['say "hi"', String.raw`back\slash`]],
  ['{a,NULL,"NULL"}', ["a", null, "NULL"]],
  ['{"",a}', ["", "a"]],
  ["[0:1]={a,b}", ["a", "b"]],
])("reads the text array %s", (text, values) => {
  expect(parseTextArray(text)).toEqual(values);
});
