// Writes the rules of Prometheus, the dashboards of Grafana and the index of the runbooks. With `--check`, it
// only reports whether they are up to date, and tests the rules with promtool if it is installed.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { generatedFiles } from "./observability/files.ts";
import { checkWithPromtool } from "./observability/promtool.ts";

const root = resolve(import.meta.dirname, "..");
const isCheck = process.argv.includes("--check");

for (const [path, text] of await generatedFiles()) {
  const target = join(root, path);
  const committed = await readFile(target, "utf8").catch(() => undefined);
  if (committed === text) continue;
  if (isCheck) {
    console.error(`${path} is out of date: run \`pnpm run observability\` and commit the result`);
    process.exitCode = 1;
  } else {
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}
if (isCheck && !checkWithPromtool(join(root, "deploy/prometheus"))) process.exitCode = 1;
