import { getAddress } from "viem";
import { expect, test } from "vitest";
import { readSignerPolicy } from "./signer-policy.ts";

const LOCAL = `0x${"1a".repeat(20)}` as const;
const OTHER = `0x${"2b".repeat(20)}` as const;

const problemsOf = (signers: string | undefined, threshold?: string): readonly string[] => {
  const { policy, problems } = readSignerPolicy({ signers, threshold, localSigner: LOCAL });
  expect(policy === undefined).toBe(problems.length > 0);
  return problems;
};

test("refuses a threshold that is not an integer of at least 1, with and without a list", () => {
  for (const threshold of [
    "0",
    "-1",
    "1.5",
    "abc",
    " 2 ",
    "+2",
    "1e1",
    "02",
    "0x2",
    "2;",
    "NaN",
    "٢",
    "9".repeat(20),
  ]) {
    expect(problemsOf(`${LOCAL};${OTHER}`, threshold)).toEqual([
      "ORACLE_SIGNERS_THRESHOLD must be an integer of at least 1",
    ]);
    expect(problemsOf(undefined, threshold)).toHaveLength(1);
  }
});

test("treats an empty threshold as unset", () => {
  for (const threshold of [undefined, ""])
    expect(readSignerPolicy({ signers: LOCAL, threshold, localSigner: LOCAL })).toEqual({
      policy: { signers: new Set([LOCAL]), threshold: 1, localSigner: LOCAL },
      problems: [],
      warnings: [],
    });
});

test("refuses a threshold above the number of signers", () => {
  expect(problemsOf(`${LOCAL};${OTHER}`, "2")).toEqual([]);
  expect(problemsOf(`${LOCAL};${OTHER}`, "3")).toEqual([
    "ORACLE_SIGNERS_THRESHOLD is 3, but ORACLE_SIGNERS lists only 2 signer(s)",
  ]);
  expect(problemsOf(`${LOCAL};${OTHER};${OTHER}`, "3")).toHaveLength(1);
});

test("names an entry that is not an address by its position", () => {
  for (const entry of [
    "0x12",
    `0x${"1".repeat(39)}`,
    `0x${"1".repeat(41)}`,
    "1a".repeat(20),
    `0X${"1a".repeat(20)}`,
    "",
    "x",
  ])
    expect(problemsOf(`${LOCAL};${entry};${OTHER}`)).toEqual(["ORACLE_SIGNERS entry 2 is not an address"]);
});

test("refuses the zero address, which would sign every unreadable signature", () => {
  expect(problemsOf(`${LOCAL};0x${"0".repeat(40)}`)).toEqual(["ORACLE_SIGNERS entry 2 is the zero address"]);
});

test("requires a valid checksum of a mixed-case address", () => {
  const right = getAddress(OTHER);
  expect(problemsOf(`${LOCAL};${right}`)).toEqual([]);
  expect(problemsOf(`${LOCAL};0x${OTHER.slice(2).toUpperCase()}`)).toEqual([]);
  const flipped = right.replace(/[a-zA-Z](?=[^a-zA-Z]*$)/, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  expect(problemsOf(`${LOCAL};${flipped}`)).toHaveLength(1);
});

test("requires the local signer on the list, in any letter case", () => {
  expect(problemsOf(OTHER)).toEqual([`ORACLE_SIGNERS must include the local signer, ${LOCAL}`]);
  expect(problemsOf(`${getAddress(LOCAL)};${OTHER}`)).toEqual([]);
});

test("refuses a list without addresses, but accepts a missing list", () => {
  expect(problemsOf(";")).not.toEqual([]);
  expect(problemsOf(" ")).not.toEqual([]);
  expect(problemsOf("")).toEqual([]);
});

test("counts one address in two formats as one signer", () => {
  expect(problemsOf(`${LOCAL};${getAddress(LOCAL)}`, "2")).toEqual([
    "ORACLE_SIGNERS_THRESHOLD is 2, but ORACLE_SIGNERS lists only 1 signer(s)",
  ]);
  expect(problemsOf(`${LOCAL};${getAddress(LOCAL)}`, "1")).toEqual([]);
});

test("accepts a trailing ; and spaces around entries", () => {
  const { policy } = readSignerPolicy({
    signers: `${LOCAL} ; ${OTHER};`,
    threshold: "2",
    localSigner: LOCAL,
  });
  expect(policy?.signers).toEqual(new Set([LOCAL, OTHER]));
});

test("ignores a threshold without a list, with a warning", () => {
  const { policy, warnings } = readSignerPolicy({ signers: undefined, threshold: "1", localSigner: LOCAL });
  expect(policy?.signers).toBeUndefined();
  expect(warnings).toEqual(["ORACLE_SIGNERS_THRESHOLD is ignored because ORACLE_SIGNERS is not set"]);
});
