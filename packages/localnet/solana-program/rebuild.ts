import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { linkObject } from "../src/solana/program/link-object.ts";

/**
 * Builds depository.so from depository.c with clang 16 (Debian: apt-get install clang-16). Nothing else of the machine enters the result: the same compiler
 * gives the same bytes. `node -C source packages/localnet/solana-program/rebuild.ts [--check]`; with --check nothing is written, and a difference is an error.
 */
const compiler = process.env["CLANG"] ?? "clang-16";
const here = import.meta.dirname;
const folder = mkdtempSync(join(tmpdir(), "depository-"));
try {
  const object = join(folder, "depository.o");
  const flags = [
    "-Oz",
    "-target",
    "bpfel",
    "-mcpu=v1",
    "-std=c11",
    "-ffreestanding",
    "-fno-builtin",
    "-Wall",
    "-Werror",
  ];
  execFileSync(compiler, [...flags, "-c", join(here, "depository.c"), "-o", object], { stdio: "inherit" });
  const program = linkObject(readFileSync(object));
  const note = { source: hash(readFileSync(join(here, "depository.c"))), program: hash(program) };
  if (process.argv.includes("--check")) {
    if (hash(readFileSync(join(here, "depository.so"))) !== note.program)
      throw new Error("depository.so is not what depository.c builds to");
  } else {
    writeFileSync(join(here, "depository.so"), program);
    writeFileSync(join(here, "built.json"), `${JSON.stringify(note, undefined, 2)}\n`);
  }
  console.log(`depository.so: ${program.length} bytes, sha256 ${note.program}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
