import { expect, test } from "vitest";
import { commonInstructions, isInContext, parseDockerfile, type Instruction } from "./dockerfile.ts";

test("splits stages into instructions, joining continued lines and omitting comments", () => {
  const stages = parseDockerfile(
    "# note\nFROM a AS build\nRUN one \\\n    two\n# RUN three\nCOPY . .\n\nFROM b\nCOPY --from=build /x ./\n",
  );
  expect(stages).toEqual([
    {
      name: "build",
      instructions: [
        { name: "RUN", text: "one two" },
        { name: "COPY", text: ". ." },
      ],
    },
    { name: "", instructions: [{ name: "COPY", text: "--from=build /x ./" }] },
  ]);
});

test("the context is what the first lines include and later lines do not exclude", () => {
  const ignore = "*\n!apps\n!package.json\n!scripts/pnpm\n**/node_modules\n**/*.test.ts\n**/.env*";
  const inside = ["package.json", "apps/api/src/main.ts", "scripts/pnpm/package.json"];
  const outside = [
    ".env",
    "docs/x.md",
    "scripts/check.ts",
    "apps/api/node_modules/x/i.js",
    "apps/api/src/main.test.ts",
    "apps/api/.env.local",
  ];
  expect([...inside, ...outside].filter((path) => isInContext(path, ignore))).toEqual(inside);
});

test("the common prefix of stages ends at the first different instruction", () => {
  const [copy, one, two] = ["COPY . .", "RUN one", "RUN two"].map((line) => {
    const [name = "", ...text] = line.split(" ");
    return { name, text: text.join(" ") };
  }) as [Instruction, Instruction, Instruction];
  expect(
    commonInstructions([
      [copy, one, two],
      [copy, two, two],
    ]),
  ).toEqual([copy]);
  expect(
    commonInstructions([
      [copy, one],
      [copy, one, two],
    ]),
  ).toEqual([copy, one]);
  expect(commonInstructions([[one], [two]])).toEqual([]);
});
