import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { FAMILY_IDS, type FamilyId } from "@causeway/domain";
import { expect, test } from "vitest";
import { familyIdsOutOfPlace } from "./family-ids.ts";

const root = resolve(import.meta.dirname, "../..");

/**
 * Files that name a family elsewhere. To add a family or a rule of one, change its folder; no file is added
 * here, and a number may only fall.
 */
const KNOWN: Readonly<Record<string, number>> = {
  "apps/oracle/src/usecases/attest-withdrawal.ts": 1,
  "apps/oracle/src/usecases/initiate-withdrawal.ts": 1,
  "apps/oracle/src/usecases/sign-nonce-mapping.ts": 1,
  "packages/attest/src/messages/nonce-mapping.ts": 1,
  "packages/config/src/chain-file.ts": 1,
  "packages/config/src/chain-schema.ts": 1,
  "packages/config/src/non-evm-schema.ts": 1,
  "packages/domain/src/address/format-order.ts": 1,
  "packages/domain/src/address/format.ts": 1,
  "packages/domain/src/chain/non-evm-chain.ts": 3,
  "packages/localnet/src/tour/tell-tour.ts": 4,
};

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
  ).toEqual(KNOWN);
});

test("a family's name counts outside its folder only", () => {
  const text = 'if (vmType === "tron-vm" || vmType === FAMILY_VM_TYPES.solana) f();';
  const of = (path: string) => familyIdsOutOfPlace([{ path, text }])[path];
  expect(of("packages/config/src/chain-file.ts")).toBe(2);
  expect(of("packages/chains/src/tron/evidence.ts")).toBe(1);
  expect(of("packages/config/src/families/tron.ts")).toBe(1);
  expect(of("packages/domain/src/withdrawal/solana-transfer-request.ts")).toBe(1);
  expect(of("packages/domain/src/chain/family.ts")).toBeUndefined();
});

/** The same files for every family. The compiler asks for those that a record names, this test for all. */
const partsOf = (family: FamilyId): readonly string[] => [
  `packages/domain/src/address/${family}.ts`,
  `packages/domain/src/chain/${family}-facts.ts`,
  `packages/config/src/families/${family}.ts`,
  ...["answers", "deposits", "family", "finality", "index", "payments", "withdrawals"].map(
    (part) => `packages/families/src/${family}/${part}.ts`,
  ),
  `packages/chains/src/${family}/evidence.ts`,
];

test.each(FAMILY_IDS)("%s has the files that every family has", (family) => {
  expect(partsOf(family).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(FAMILY_IDS)("the evidence of %s has at most 60 lines next to the frame", (family) => {
  const text = readFileSync(join(root, `packages/chains/src/${family}/evidence.ts`), "utf8");
  expect(text.split("\n").length - 1).toBeLessThanOrEqual(60);
});
