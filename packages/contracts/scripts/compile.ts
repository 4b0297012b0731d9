import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import {
  generatedFolder,
  hashFile,
  inputHash,
  isCompiled,
  libraries,
  packageFolder,
  readSources,
} from "./compiled-inputs.mjs";

// Compiles contracts/**/*.sol into src/generated/*.ts: for each contract its ABI and its creation bytecode.
// The same sources always give the same bytes: pinned compiler, fixed settings, no metadata hash.

const require = createRequire(import.meta.url);

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

function readImport(path: string): { contents: string } | { error: string } {
  const library = libraries.find((name) => path.startsWith(`${name}/`));
  if (library === undefined) return { error: `${path} is not in any of: ${libraries.join(", ")}` };
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
      if (compiled.has(name))
        throw new Error(`duplicate contract name ${name}; the second one is in ${path}`);
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

if (isCompiled()) {
  console.log("contracts: up to date");
} else {
  const startedAtMs = performance.now();
  const hash = inputHash();
  const deployable = [...compile(readSources())].filter(
    ([, contract]) => contract.evm.bytecode.object !== "",
  );
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
