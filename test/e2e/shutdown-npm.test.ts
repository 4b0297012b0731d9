import { execFile, spawn } from "node:child_process";
import { delimiter } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "@causeway/testkit";
import { expect, test } from "vitest";
import { portBaseOf } from "./port-bases.ts";

// A supervisor of `npm start` knows only npm's process, so stopping that process must stop everything.

const portBase = portBaseOf("shutdown-npm");

/**
 * The environment of a user's shell: without the workspace's tools in the path, and not inside another npm.
 */
function userEnvironment(): NodeJS.ProcessEnv {
  const path = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .join(delimiter);
  const outer = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_|VITEST|DATABASE_URL|REDIS_URL)/i.test(name),
  );
  return { ...Object.fromEntries(outer), PATH: path };
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

async function processes(): Promise<readonly Process[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,ppid=,stat=,args="], {
    maxBuffer: 2 ** 24,
  });
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    // A zombie process no longer runs.
    return command === undefined || state?.startsWith("Z") === true
      ? []
      : [{ pid: Number(pid), parent: Number(parent), command }];
  });
}

/** A process and all its descendants. */
async function treeOf(root: number): Promise<readonly Process[]> {
  const all = await processes();
  const tree = new Set([root]);
  for (let before = 0; before !== tree.size;) {
    before = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  return all.filter(({ pid }) => tree.has(pid));
}

async function survivorsOf(tree: readonly Process[]): Promise<readonly Process[]> {
  const now = await processes();
  return tree.filter(({ pid, command }) =>
    now.some((running) => running.pid === pid && running.command === command),
  );
}

async function startNpm() {
  const options = ["--oracles", "1", "--port-base", String(portBase), "--set", "RATE_LIMITS=on"];
  const npm = spawn("npm", ["start", "--", ...options], {
    cwd: repositoryRoot,
    env: userEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  npm.stdout.on("data", (chunk) => (output += String(chunk)));
  npm.stderr.on("data", (chunk) => (output += String(chunk)));
  const { pid } = npm;
  if (pid === undefined) throw new Error("npm could not be started");
  await expect.poll(() => output, { timeout: 90_000, interval: 200 }).toContain("The system keeps running");
  return { pid, output: () => output };
}

test.each(["SIGTERM", "SIGHUP", "SIGKILL"] as const)(
  "%s to the npm process of `npm start` leaves no process behind",
  async (signal) => {
    const { pid, output } = await startNpm();
    const tree = await treeOf(pid);
    try {
      // At least npm, the bootstrap, the local system, three nodes, Postgres, Redis, API, worker and an
      // oracle.
      expect(tree.length, output()).toBeGreaterThan(10);
      const { headers } = await fetch(`http://127.0.0.1:${portBase}/chains`);
      expect(headers.get("ratelimit-limit"), "RATE_LIMITS=on was not set").toBe("120");
      process.kill(pid, signal);
      await expect.poll(async () => await survivorsOf(tree), { timeout: 25_000, interval: 250 }).toEqual([]);
      expect(output()).toContain("stopped; all processes have ended");
    } finally {
      for (const survivor of await survivorsOf(tree)) process.kill(survivor.pid, "SIGKILL");
    }
  },
  150_000,
);
