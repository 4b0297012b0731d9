import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { linkObject } from "./link-object.ts";

/**
 * Builds the programs of this folder reproducibly with clang 16. `node -C source
 * packages/contracts/solana/build.ts [--check]`; CLANG names another path of clang 16. `--check` writes
 * nothing. It fails if a committed program differs from its source, and prints NOT BUILT if clang 16 is not
 * installed.
 */
const compiler = process.env["CLANG"] ?? "clang-16";
const flags =
  "-Oz -target bpfel -mcpu=v1 -std=c11 -ffreestanding -fno-builtin -fno-ident -Wall -Werror".split(" ");
const here = import.meta.dirname;
const record = join(here, "built.json");

interface Built {
  readonly [name: string]: { readonly source: string; readonly program: string };
}

const names = ["depository", "deposit-address", "test/forwarder", "test/pool"];
if (process.argv.includes("--check")) check();
else write();

function write(): void {
  const built: Record<string, Built[string]> = {};
  for (const name of names) {
    const program = compile(join(here, `${name}.c`));
    writeFileSync(join(here, `${name}.so`), program);
    built[name] = { source: hashOf(`${name}.c`), program: hash(program) };
    report(name, program);
  }
  writeFileSync(record, `${JSON.stringify(built, undefined, 2)}\n`);
}

function check(): void {
  const built = JSON.parse(readFileSync(record, "utf8")) as Built;
  for (const name of names)
    if (built[name]?.source !== hashOf(`${name}.c`) || built[name].program !== hashOf(`${name}.so`))
      throw new Error(`${name}.c or ${name}.so differs from built.json: run build.ts and commit all three`);
  const problem = missingCompiler();
  if (problem !== undefined) {
    console.log(
      `solana: NOT BUILT: ${problem}. Only hashes were compared: it is unproven that the committed`,
    );
    console.log("  programs are built from their sources. On Debian 12: apt-get install clang-16");
    return;
  }
  for (const name of names) {
    const program = compile(join(here, `${name}.c`));
    if (hash(program) !== hashOf(`${name}.so`))
      throw new Error(`${name}.so is not what ${name}.c builds to: got sha256 ${hash(program)}`);
    report(name, program);
  }
  console.log(`solana: built ${names.length} programs, identical to the committed ones`);
}

/** Why the compiler cannot be used; undefined when it can. */
function missingCompiler(): string | undefined {
  const { stdout, error } = spawnSync(compiler, ["--version"], { encoding: "utf8" });
  if (error !== undefined) return `${compiler} is not installed`;
  // Another version may be correct and still emit other bytes.
  return /clang version 16\./.test(stdout) ? undefined : `${compiler} is not clang 16`;
}

function compile(source: string): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "causeway-solana-"));
  try {
    const object = join(folder, "program.o");
    execFileSync(compiler, [...flags, "-c", source, "-o", object], { stdio: "inherit" });
    return linkObject(readFileSync(object));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(name: string, program: Uint8Array): void {
  console.log(`${name}.so: ${program.length} bytes, sha256 ${hash(program)}`);
}

function hashOf(file: string): string {
  return hash(readFileSync(join(here, file)));
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
