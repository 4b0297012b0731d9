import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { ICruiseResult, IForbiddenRuleType, ICruiseOptions } from "dependency-cruiser";
import { cruise } from "dependency-cruiser";

/**
 * Checks the tree against the rules of .dependency-cruiser.cjs: which room may import which. Also fails if
 * fewer modules were read than there are files: a parser that reads nothing finds nothing wrong.
 */
interface Rules {
  readonly forbidden: IForbiddenRuleType[];
  readonly options: ICruiseOptions & { readonly enhancedResolveOptions: Record<string, unknown> };
}

const root = resolve(import.meta.dirname, "..");
process.chdir(root);
const { forbidden, options } = createRequire(import.meta.url)("../.dependency-cruiser.cjs") as Rules;
const { enhancedResolveOptions, ...cruiseOptions } = options;

const folders = ["apps", "packages", "scripts", "test", "bench", "examples"];
const files = folders.flatMap((folder) => sourceFiles(join(root, folder)));

const { output } = await cruise(
  folders,
  { ...cruiseOptions, validate: true, ruleSet: { forbidden } },
  enhancedResolveOptions,
);
const { modules, summary } = output as ICruiseResult;
const repositoryModules = modules.filter((module) =>
  /^(apps|packages|scripts|test|bench|examples)\//.test(module.source),
);
const dependencies = repositoryModules.reduce((count, module) => count + module.dependencies.length, 0);

for (const { rule, from, to, cycle } of summary.violations) {
  const path = cycle === undefined ? to : cycle.map((step) => step.name).join(" → ");
  console.error(`${rule.name}: ${from} → ${path}`);
  const why = forbidden.find((f) => f.name === rule.name)?.comment;
  if (why !== undefined) console.error(`  ${why}`);
}
console.log(
  `rooms: ${repositoryModules.length} modules, ${dependencies} imports, ${summary.violations.length} violations`,
);
if (repositoryModules.length < files.length) {
  console.error(
    `only ${repositoryModules.length} of ${files.length} source files were read, so the check is incomplete`,
  );
  process.exitCode = 1;
}
if (summary.violations.length > 0) process.exitCode = 1;

/** Every .ts file below a folder, except installed and built ones. */
function sourceFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ["node_modules", "dist"].includes(entry.name) ? [] : sourceFiles(path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}
