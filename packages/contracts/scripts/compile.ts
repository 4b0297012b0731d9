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
// src/generated/builds.json has what verification needs: deployed bytecode, immutables and sources.
// The same sources always give the same bytes: pinned compiler, fixed settings, no metadata hash.

const require = createRequire(import.meta.url);

const settings = {
  evmVersion: "prague",
  optimizer: { enabled: true, runs: 10_000 },
  metadata: { bytecodeHash: "none", appendCBOR: false },
};

const outputSelection = {
  "*": {
    "": ["ast"],
    "*": [
      "abi",
      "metadata",
      "evm.bytecode.object",
      "evm.deployedBytecode.object",
      "evm.deployedBytecode.immutableReferences",
    ],
  },
};

/** Where an immutable is in the deployed bytecode, in bytes. */
interface BytecodePlace {
  readonly start: number;
  readonly length: number;
}

interface CompiledContract {
  readonly abi: readonly unknown[];
  readonly metadata: string;
  readonly evm: {
    readonly bytecode: { readonly object: string };
    readonly deployedBytecode: {
      readonly object: string;
      /** By the id of the declaration in the syntax tree. */
      readonly immutableReferences?: Readonly<Record<string, readonly BytecodePlace[]>>;
    };
  };
}

/** A contract and the path of its source. */
type SourcedContract = CompiledContract & { readonly path: string };

interface CompilerProblem {
  readonly severity: string;
  readonly formattedMessage: string;
  readonly sourceLocation?: { readonly file: string };
}

interface CompilerOutput {
  readonly errors?: readonly CompilerProblem[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, CompiledContract>>>>;
  readonly sources?: Readonly<Record<string, { readonly ast: unknown }>>;
}

interface Compiler {
  version(): string;
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

/** Contracts by name, and the names of immutables by the id of their declaration. */
interface Compiled {
  readonly contracts: ReadonlyMap<string, SourcedContract>;
  readonly immutables: ReadonlyMap<string, string>;
}

function compile(compiler: Compiler, sources: Record<string, { content: string }>): Compiled {
  const input = JSON.stringify({
    language: "Solidity",
    sources,
    settings: { ...settings, outputSelection },
  });
  const output = JSON.parse(compiler.compile(input, { import: readImport })) as CompilerOutput;

  // Warnings in libraries are ignored.
  const problems = (output.errors ?? []).filter(
    (problem) => problem.severity === "error" || (problem.sourceLocation?.file ?? "") in sources,
  );
  for (const problem of problems) process.stderr.write(problem.formattedMessage);
  // A warning is refused too: it would be printed only once, and then skipped with the unchanged sources.
  if (problems.length > 0) throw new Error(`solc reported ${problems.length} problem(s), printed above`);

  const compiled = new Map<string, SourcedContract>();
  for (const [path, contracts] of Object.entries(output.contracts ?? {})) {
    if (!(path in sources)) continue;
    for (const [name, contract] of Object.entries(contracts)) {
      if (compiled.has(name))
        throw new Error(`duplicate contract name ${name}; the second one is in ${path}`);
      compiled.set(name, { ...contract, path });
    }
  }
  const immutables = new Map<string, string>();
  for (const { ast } of Object.values(output.sources ?? {})) collectImmutables(ast, immutables);
  return { contracts: compiled, immutables };
}

function collectImmutables(node: unknown, names: Map<string, string>): void {
  if (typeof node !== "object" || node === null) return;
  if ("mutability" in node && node.mutability === "immutable" && "id" in node && "name" in node)
    names.set(String(node.id), String(node.name));
  for (const child of Object.values(node)) collectImmutables(child, names);
}

/** The contracts of the product, for `src/deploy/builds.ts`. */
function buildsText(compiler: Compiler, { contracts, immutables }: Compiled): string {
  const deployed = [...contracts].filter(
    ([, { path, evm }]) => !path.startsWith("contracts/test/") && evm.bytecode.object !== "",
  );
  const builds = deployed.map(([name, { path, metadata, evm }]) => {
    const { object, immutableReferences = {} } = evm.deployedBytecode;
    const places = Object.entries(immutableReferences).map(([id, bytecodePlaces]) => {
      const immutable = immutables.get(id);
      if (immutable === undefined) throw new Error(`immutable ${id} of ${name} is not in the syntax tree`);
      return [immutable, bytecodePlaces] as const;
    });
    const { sources } = JSON.parse(metadata) as { readonly sources: Readonly<Record<string, unknown>> };
    const build = {
      path,
      deployedBytecode: `0x${object}`,
      immutables: Object.fromEntries(places),
      sources: Object.keys(sources).sort(),
    };
    return [name, build] as const;
  });
  const paths = new Set(builds.flatMap(([, build]) => build.sources));
  const ownSources = readSources();
  const sources = [...paths]
    .sort()
    .map((path) => [path, ownSources[path]?.content ?? readLibrary(path)] as const);
  return `${JSON.stringify({
    compiler: compiler.version(),
    settings,
    sources: Object.fromEntries(sources),
    contracts: Object.fromEntries(builds),
  })}\n`;
}

function readLibrary(path: string): string {
  const read = readImport(path);
  if ("error" in read) throw new Error(read.error);
  return read.contents;
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

/** Replaces the file atomically, because another process may read or write it. */
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
  const compiler = require("solc") as Compiler;
  const compiled = compile(compiler, readSources());
  const deployable = [...compiled.contracts].filter(([, contract]) => contract.evm.bytecode.object !== "");
  mkdirSync(generatedFolder, { recursive: true });
  const files = deployable.map(([name, contract]) => {
    const file = `${kebab(name)}.ts`;
    replaceFile(join(generatedFolder, file), moduleText(name, contract));
    return file;
  });
  replaceFile(join(generatedFolder, "builds.json"), buildsText(compiler, compiled));
  files.push("builds.json");
  replaceFile(hashFile, `${[hash, ...files].join("\n")}\n`);
  const tookMs = Math.round(performance.now() - startedAtMs);
  console.log(`contracts: compiled ${deployable.length} contracts in ${tookMs} ms`);
}
