import { expect, test } from "vitest";
import { readApiKeys } from "./api-key-list.ts";

test("keys come with labels, which may hold colons; one semicolon at the end is allowed", () => {
  const { keys, problems } = readApiKeys("one:first ; two:second: of two;");
  expect([...keys]).toEqual([
    ["one", "first"],
    ["two", "second: of two"],
  ]);
  expect(problems).toEqual([]);
});

test.each([
  ["lonely-secret", "entry 1 has no label"],
  ["lonely-secret:", "entry 1 has no label"],
  [":label", "entry 1 has a key that is empty"],
  ["secret key:label", "cannot be sent in a header"],
  ["a:x;;b:y", "entry 2 has no label"],
  ["a:x;a:y", "entry 2 has the key of an entry before it"],
])("the list %j is refused without naming a key", (text, problem) => {
  const told = readApiKeys(text).problems.join("\n");
  expect(told).toContain(problem);
  expect(told).not.toContain("secret");
});
