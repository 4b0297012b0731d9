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

test("34: a threshold that is not a whole number of at least one is refused, with a list and without", () => {
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

test("34: an empty threshold is an unset one: 1", () => {
  for (const threshold of [undefined, ""])
    expect(readSignerPolicy({ signers: LOCAL, threshold, localSigner: LOCAL })).toEqual({
      policy: { signers: new Set([LOCAL]), threshold: 1, localSigner: LOCAL },
      problems: [],
      warnings: [],
    });
});

test("34: more signers than the list has can never sign", () => {
  expect(problemsOf(`${LOCAL};${OTHER}`, "2")).toEqual([]);
  expect(problemsOf(`${LOCAL};${OTHER}`, "3")).toEqual([
    "ORACLE_SIGNERS_THRESHOLD is 3, but ORACLE_SIGNERS lists only 2 signer(s)",
  ]);
  expect(problemsOf(`${LOCAL};${OTHER};${OTHER}`, "3")).toHaveLength(1);
});

test("34: an entry that is no address is named by its place", () => {
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

test("34: the zero address signs for everybody whose signature cannot be read, and is refused", () => {
  expect(problemsOf(`${LOCAL};0x${"0".repeat(40)}`)).toEqual(["ORACLE_SIGNERS entry 2 is the zero address"]);
});

test("34: an address in mixed case must have the right checksum", () => {
  const right = getAddress(OTHER);
  expect(problemsOf(`${LOCAL};${right}`)).toEqual([]);
  expect(problemsOf(`${LOCAL};0x${OTHER.slice(2).toUpperCase()}`)).toEqual([]);
  const flipped = right.replace(/[a-zA-Z](?=[^a-zA-Z]*$)/, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  expect(problemsOf(`${LOCAL};${flipped}`)).toHaveLength(1);
});

test("34: the local signer, wherever its address comes from, must be on the list", () => {
  expect(problemsOf(OTHER)).toEqual([`ORACLE_SIGNERS must include the local signer, ${LOCAL}`]);
  expect(problemsOf(`${getAddress(LOCAL)};${OTHER}`)).toEqual([]);
});

test("34: a list that names nobody is no list that was left out", () => {
  expect(problemsOf(";")).not.toEqual([]);
  expect(problemsOf(" ")).not.toEqual([]);
  expect(problemsOf("")).toEqual([]);
});

test("35: one address in two spellings is one signer", () => {
  expect(problemsOf(`${LOCAL};${getAddress(LOCAL)}`, "2")).toEqual([
    "ORACLE_SIGNERS_THRESHOLD is 2, but ORACLE_SIGNERS lists only 1 signer(s)",
  ]);
  expect(problemsOf(`${LOCAL};${getAddress(LOCAL)}`, "1")).toEqual([]);
});

test("a ; at the end and blanks around entries are how lists are written by hand", () => {
  const { policy } = readSignerPolicy({
    signers: `${LOCAL} ; ${OTHER};`,
    threshold: "2",
    localSigner: LOCAL,
  });
  expect(policy?.signers).toEqual(new Set([LOCAL, OTHER]));
});

test("a threshold without a list is ignored with a warning", () => {
  const { policy, warnings } = readSignerPolicy({ signers: undefined, threshold: "1", localSigner: LOCAL });
  expect(policy?.signers).toBeUndefined();
  expect(warnings).toEqual(["ORACLE_SIGNERS_THRESHOLD is ignored because ORACLE_SIGNERS is not set"]);
});
