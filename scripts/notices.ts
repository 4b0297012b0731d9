import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./check/run-command.ts";
import { licenseProblems, productionPackages, renderNotices } from "./check/third-party.ts";

/**
 * Writes the third-party notices of both images. Fails if a production dependency has a license that is not
 * allowed, and with `--check` also when the notices are not up to date.
 */
for (const app of ["api", "oracle"]) {
  const file = `apps/${app}/THIRD_PARTY_NOTICES.md`;
  const path = join(root, file);
  const packages = productionPackages(join(root, "apps", app));
  const notices = renderNotices(app, packages);
  const problems = [...licenseProblems(packages)];
  if (!process.argv.includes("--check")) writeFileSync(path, notices);
  else if (!existsSync(path) || readFileSync(path, "utf8") !== notices)
    problems.push(`${file} is not up to date; run pnpm notices`);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
