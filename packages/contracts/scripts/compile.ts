import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";

// Compiles contracts/**/*.sol into src/generated/*.ts: for each contract its ABI and its creation bytecode.
// The same sources always give the same bytes: pinned compiler, fixed settings, no metadata hash.

const room = resolve(import.meta.dirname, "..");
const sourceFolder = join(room, "contracts");
const generatedFolder = join(room, "src", "generated");
const hashFile = join(generatedFolder, ".hash");
const require = createRequire(import.meta.url);

/** Source libraries that contracts may import, each resolved to its folder on disk. */
const libraries = ["@openzeppelin/contracts", "solady"] as const;

const settings = {
  evmVersion: "prague",
  optimizer: { enabled: true, runs: 10_000 },
  metadata: { bytecodeHash: "none", appendCBOR: false },
  outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
};

interface CompiledContract {
  readonly abi: readonly unknown[];
  readonly evm: { readonly bytecode: { readonly object: string } };
}

interface CompilerProblem {
  readonly severity: string;
  readonly formattedMessage: string;
  readonly sourceLocation?: { readonly file: string };
}

interface CompilerOutput {
  readonly errors?: readonly CompilerProblem[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, CompiledContract>>>>;
}

interface Compiler {
  compile(
    input: string,
    callbacks: { import: (path: string) => { contents: string } | { error: string } },
  ): string;
}

function packageFolder(name: string): string {
  return dirname(require.resolve(`${name}/package.json`));
}

function packageVersion(name: string): string {
  const manifest = JSON.parse(readFileSync(join(packageFolder(name), "package.json"), "utf8")) as {
    version: string;
  };
  return manifest.version;
}

function readSources(): Record<string, { content: string }> {
  const paths = readdirSync(sourceFolder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".sol"))
    .toSorted();
  return Object.fromEntries(
    paths.map((path) => {
      const name = relative(room, join(sourceFolder, path)).replaceAll("\\", "/");
      return [name, { content: readFileSync(join(sourceFolder, path), "utf8") }];
    }),
  );
}

function inputHash(sources: Record<string, { content: string }>): string {
  const hash = createHash("sha256");
  hash.update(readFileSync(import.meta.filename));
  hash.update(JSON.stringify(sources));
  for (const name of ["solc", ...libraries]) hash.update(`${name}@${packageVersion(name)}\n`);
  return hash.digest("hex");
}

/** What the last run left: the input hash on the first line, then the files it wrote. */
function isUpToDate(hash: string): boolean {
  if (!existsSync(hashFile)) return false;
  const [written, ...files] = readFileSync(hashFile, "utf8").trimEnd().split("\n");
  return written === hash && files.every((file) => existsSync(join(generatedFolder, file)));
}

function readImport(path: string): { contents: string } | { error: string } {
  const library = libraries.find((name) => path.startsWith(`${name}/`));
  if (library === undefined) return { error: `${path} is not in one of: ${libraries.join(", ")}` };
  const file = join(packageFolder(library), path.slice(library.length + 1));
  return existsSync(file) ? { contents: readFileSync(file, "utf8") } : { error: `${file} does not exist` };
}

function compile(sources: Record<string, { content: string }>): Map<string, CompiledContract> {
  const compiler = require("solc") as Compiler;
  const input = JSON.stringify({ language: "Solidity", sources, settings });
  const output = JSON.parse(compiler.compile(input, { import: readImport })) as CompilerOutput;

  // The libraries' own warnings are theirs to mend.
  const problems = (output.errors ?? []).filter(
    (problem) => problem.severity === "error" || (problem.sourceLocation?.file ?? "") in sources,
  );
  for (const problem of problems) process.stderr.write(problem.formattedMessage);
  // A warning is refused too: it would be printed only once, and then skipped with the unchanged sources.
  if (problems.length > 0) throw new Error(`solc reported ${problems.length} problem(s), printed above`);

  const compiled = new Map<string, CompiledContract>();
  for (const [path, contracts] of Object.entries(output.contracts ?? {})) {
    if (!(path in sources)) continue;
    for (const [name, contract] of Object.entries(contracts)) {
      if (compiled.has(name)) throw new Error(`two contracts are called ${name}; the second is in ${path}`);
      compiled.set(name, contract);
    }
  }
  return compiled;
}

function kebab(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "-").toLowerCase();
}

function camel(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function moduleText(name: string, contract: CompiledContract): string {
  return [
    `// Written by scripts/compile.ts from ${name}.sol; do not edit.`,
    `export const ${camel(name)}Abi = ${JSON.stringify(contract.abi)} as const;`,
    `/** Creation bytecode, to which the encoded constructor arguments are appended. */`,
    `export const ${camel(name)}Bytecode: \`0x\${string}\` = "0x${contract.evm.bytecode.object}";`,
    "",
  ].join("\n");
}

/** Whole or not at all: another process may be reading, or writing the same. */
function replaceFile(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}

const sources = readSources();
const hash = inputHash(sources);
if (isUpToDate(hash)) {
  console.log("contracts: up to date");
} else {
  const startedAtMs = performance.now();
  const deployable = [...compile(sources)].filter(([, contract]) => contract.evm.bytecode.object !== "");
  mkdirSync(generatedFolder, { recursive: true });
  const files = deployable.map(([name, contract]) => {
    const file = `${kebab(name)}.ts`;
    replaceFile(join(generatedFolder, file), moduleText(name, contract));
    return file;
  });
  replaceFile(hashFile, `${[hash, ...files].join("\n")}\n`);
  const tookMs = Math.round(performance.now() - startedAtMs);
  console.log(`contracts: compiled ${files.length} contracts in ${tookMs} ms`);
}
