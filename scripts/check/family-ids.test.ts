import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { FAMILY_IDS } from "@causeway/domain";
import { expect, test } from "vitest";
import { familyIdsOutOfPlace } from "./family-ids.ts";

const root = resolve(import.meta.dirname, "../..");

test("sources name a chain family only in its folder and in the list of families", () => {
  const paths = execFileSync("git", ["ls-files", "packages/*/src/*.ts", "apps/*/src/*.ts"], {
    cwd: root,
    encoding: "utf8",
  }).split("\n");
  const sources = paths.filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"));
  const files = sources.filter((path) => existsSync(join(root, path)));
  expect(files.length).toBeGreaterThan(500);
  expect(
    familyIdsOutOfPlace(files.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))),
  ).toEqual({});
});

test("a family's name counts outside its folder only", () => {
  const text = 'if (vmType === "tron-vm" || vmType === FAMILY_VM_TYPES.solana) f();';
  const countIn = (path: string) => familyIdsOutOfPlace([{ path, text }])[path];
  expect(countIn("packages/config/src/chain-file.ts")).toBe(2);
  expect(countIn("packages/chains/src/tron/evidence.ts")).toBe(1);
  expect(countIn("packages/families/src/tron/address-codec.ts")).toBe(1);
  expect(countIn("packages/families/src/solana/withdrawals/transfer-request.ts")).toBe(1);
  expect(countIn("packages/domain/src/chain/family.ts")).toBeUndefined();
});

/** The files of every family. The compiler requires each of them; this test allows no others. */
const FILES = [
  "address-codec.ts",
  "answers.ts",
  "chain-entry.ts",
  "deposits.ts",
  "facts.ts",
  "family.ts",
  "finality.ts",
  "index.ts",
  "payments.ts",
  "withdrawals.ts",
];

/** `port.ts` describes an EVM chain for the service. */
const FURTHER: Readonly<Record<string, readonly string[]>> = { evm: ["port.ts"] };

test.each(FAMILY_IDS)(
  "%s has the files that every family has, and their parts in folders of their names",
  (family) => {
    const folder = join(root, "packages/families/src", family);
    const entries = readdirSync(folder, { withFileTypes: true }).filter(
      ({ name }) => !name.endsWith(".test.ts"),
    );
    const files = entries.flatMap((entry) => (entry.isFile() ? [entry.name] : []));
    expect(files.toSorted()).toEqual([...FILES, ...(FURTHER[family] ?? [])].toSorted());
    const parts = entries.flatMap((entry) =>
      entry.isDirectory() && entry.name !== "fixtures" ? [`${entry.name}.ts`] : [],
    );
    expect(parts.filter((name) => !FILES.includes(name))).toEqual([]);
    expect(existsSync(join(root, `packages/chains/src/${family}/evidence.ts`))).toBe(true);
  },
);

test.each(FAMILY_IDS)("the evidence of %s has at most 60 lines next to the frame", (family) => {
  const text = readFileSync(join(root, `packages/chains/src/${family}/evidence.ts`), "utf8");
  expect(text.split("\n").length - 1).toBeLessThanOrEqual(60);
});
