import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { root } from "./run-command.ts";

/**
 * All versions of a file in this clone's first-parent history, oldest first, followed by the working tree's.
 * @param path relative to the repository
 */
export function versionsOf(path: string): readonly string[] {
  const git = (...args: readonly string[]): string =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  const commits = git("log", "--first-parent", "--reverse", "--format=%H", "--", path).split("\n");
  const texts = commits.filter((commit) => commit !== "").map((commit) => git("show", `${commit}:${path}`));
  return [...texts, readFileSync(resolve(root, path), "utf8")];
}
