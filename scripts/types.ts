import { execFileSync, spawnSync } from "node:child_process";
import { relative, resolve } from "node:path";

/**
 * Compiles the packages and apps, and checks the types of everything else. Also fails if a TypeScript
 * file outside a `src` folder belongs to no project, because an unchecked file would look correct.
 */
const projects = ["test", "scripts", "packages/contracts/test", "packages/chains/test"];
const root = resolve(import.meta.dirname, "..");

const run = (...args: readonly string[]): string => {
  const { stdout, stderr, status } = spawnSync("tsc", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) process.exitCode = 1;
  process.stderr.write(stderr);
  return stdout;
};

process.stdout.write(run("-b"));
const checked = new Set<string>();
for (const project of projects)
  for (const line of run("-p", project, "--listFiles").split("\n"))
    if (line.startsWith("/")) checked.add(relative(root, line));
    else if (line !== "") console.log(line);

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts"], {
  cwd: root,
  encoding: "utf8",
}).split("\n");
const missing = files.filter((file) => file !== "" && !file.includes("/src/") && !checked.has(file));
for (const file of missing)
  console.error(`${file} belongs to no TypeScript project: add it to one of ${projects.join(", ")}`);
if (missing.length > 0) process.exitCode = 1;
console.log(`types: ${checked.size} files outside the build checked, ${missing.length} missing`);
