import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { linkObject } from "../src/solana/program/link-object.ts";

/**
 * Builds every program here with clang 16 (Debian: apt-get install clang-16). Nothing else of the machine
 * enters the result: the same compiler gives the same bytes. `node -C source
 * packages/localnet/solana-program/rebuild.ts [--check]`; with --check nothing is written, and a difference
 * is an error.
 */
const compiler = process.env["CLANG"] ?? "clang-16";
const flags =
  "-Oz -target bpfel -mcpu=v1 -std=c11 -ffreestanding -fno-builtin -fno-ident -Wall -Werror".split(" ");
const here = import.meta.dirname;
const isCheck = process.argv.includes("--check");

const built: Record<string, { readonly source: string; readonly program: string }> = {};
for (const name of ["depository", "forwarder"]) {
  const program = build(join(here, `${name}.c`));
  const file = join(here, `${name}.so`);
  built[name] = { source: hash(readFileSync(join(here, `${name}.c`))), program: hash(program) };
  if (!isCheck) writeFileSync(file, program);
  else if (hash(readFileSync(file)) !== hash(program))
    throw new Error(`${name}.so is not what ${name}.c builds to`);
  console.log(`${name}.so: ${program.length} bytes, sha256 ${hash(program)}`);
}
if (!isCheck) writeFileSync(join(here, "built.json"), `${JSON.stringify(built, undefined, 2)}\n`);

function build(source: string): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "solana-program-"));
  try {
    const object = join(folder, "program.o");
    execFileSync(compiler, [...flags, "-c", source, "-o", object], { stdio: "inherit" });
    return linkObject(readFileSync(object));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
