// Plain JavaScript, because the bootstrap imports it on any Node.js version before it starts the compiler.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const packageRoot = resolve(here, "..");
const sourceFolder = join(packageRoot, "contracts");
const require = createRequire(import.meta.url);

export const generatedFolder = join(packageRoot, "src", "generated");
export const hashFile = join(generatedFolder, ".hash");

/** Source libraries that contracts may import, each resolved to its folder on disk. */
export const libraries = ["@openzeppelin/contracts", "solady"];

/** @param {string} name */
export function packageFolder(name) {
  return dirname(require.resolve(`${name}/package.json`));
}

/** @returns {Record<string, { content: string }>} */
export function readSources() {
  const paths = readdirSync(sourceFolder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".sol"))
    .sort();
  return Object.fromEntries(
    paths.map((path) => {
      const name = relative(packageRoot, join(sourceFolder, path)).replaceAll("\\", "/");
      return [name, { content: readFileSync(join(sourceFolder, path), "utf8") }];
    }),
  );
}

/** A hash of everything that determines the output: compiler, settings, sources and libraries. */
export function inputHash() {
  const hash = createHash("sha256");
  for (const script of ["compile.ts", "compiled-inputs.mjs"]) hash.update(readFileSync(join(here, script)));
  hash.update(JSON.stringify(readSources()));
  for (const name of ["solc", ...libraries]) {
    const { version } = JSON.parse(readFileSync(join(packageFolder(name), "package.json"), "utf8"));
    hash.update(`${name}@${version}\n`);
  }
  return hash.digest("hex");
}

/** Whether the last run had these inputs, and all files that it wrote are still there. */
export function isCompiled() {
  if (!existsSync(hashFile)) return false;
  const [written, ...files] = readFileSync(hashFile, "utf8").trimEnd().split("\n");
  return written === inputHash() && files.every((file) => existsSync(join(generatedFolder, file)));
}
