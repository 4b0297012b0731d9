import { expect, test } from "vitest";
import { readApiKeys } from "./api-key-list.ts";

const ONE = "1".repeat(32);
const TWO = "2".repeat(64);

test("reads labels, which may contain colons, and allows one trailing semicolon", () => {
  const { keys, problems } = readApiKeys(`${ONE}:first ; ${TWO}:second: of two;`);
  expect([...keys]).toEqual([
    [ONE, "first"],
    [TWO, "second: of two"],
  ]);
  expect(problems).toEqual([]);
});

test.each([
  ["lonely-secret", "entry 1 has no label"],
  ["lonely-secret:", "entry 1 has no label"],
  [":label", "entry 1 has an empty key"],
  ["secret key:label", "characters not allowed in a header"],
  [`${ONE}:x;;${TWO}:y`, "entry 2 has no label"],
  [`${ONE}:x;${ONE}:y`, "entry 2 repeats the key of an earlier entry"],
  [
    `${ONE}:x;${"secret7".padEnd(31, "-")}:y`,
    "API_KEYS entry 2 has a key of 31 characters, expected at least 32; generate one with `openssl rand -hex 32`",
  ],
])("refuses the list %j without naming a key", (text, problem) => {
  const problems = readApiKeys(text).problems.join("\n");
  expect(problems).toContain(problem);
  expect(problems).not.toContain("secret");
});
