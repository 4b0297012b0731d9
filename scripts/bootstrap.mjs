#!/usr/bin/env node
// Plain JavaScript that any Node >= 20.19 runs with nothing installed. Installs pnpm and the packages if
// needed, builds outdated contracts, then runs the requested program on the Node of the workspace.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { constants as osConstants, homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isCompiled } from "../packages/contracts/scripts/compiled-inputs.mjs";

// Node 18 lacks `import.meta.dirname`, and must get far enough to print which version is required.
const root = fileURLToPath(new URL("..", import.meta.url));
// Has a separate lockfile, so that pnpm itself is checked against a hash, too.
const pnpmFolder = join(root, "scripts", "pnpm");
// The lockfile contains a Node, with its hash, for these platforms. Elsewhere the Node of the caller runs
// everything.
const bundledNodePlatforms = ["linux-arm64", "linux-x64"];
const platform = `${process.platform}-${process.arch}`;
const hasBundledNode = bundledNodePlatforms.includes(platform);
const workspaceNode = hasBundledNode
  ? join(root, "node_modules", `node-${platform}`, "bin", "node")
  : process.execPath;
const stampFile = join(root, "node_modules", ".causeway-install");
const lockFile = join(root, ".cache", "install.lock");
const programs = {
  start: "packages/localnet/src/main.ts",
  test: "scripts/check.ts",
  soak: "scripts/soak.ts",
  sequences: "test/sequences/main.ts",
  bench: "bench/main.ts",
  operator: "apps/api/src/operator.ts",
};
const startedAtMs = Date.now();
let hasOpenDots = false;

if (hasBundledNode) requireNode(20, 19);
else
  requireNode(
    24,
    3,
    ` on ${platform}, because the lockfile installs Node only on ${bundledNodePlatforms.join(" and ")}`,
  );
const [command = "", ...args] = process.argv.slice(2);
if (command === "example") programs.example = exampleNamed(args.shift());
if (!Object.hasOwn(programs, command))
  fail(`usage: bootstrap.mjs ${Object.keys(programs).join("|")}|example [options]`, 2);
exitWithCaller();
await installIfNeeded();
if (command !== "example" && !isCompiled())
  await runStep(
    "building contracts",
    workspaceNode,
    ["-C", "source", "packages/contracts/scripts/compile.ts"],
    { quietForMs: 1_000 },
  );
await runProgram(programs[command], args, command === "operator" ? localEnvironment() : {});

function say(text) {
  endDots();
  process.stderr.write(`[${((Date.now() - startedAtMs) / 1_000).toFixed(1).padStart(5)} s] ${text}\n`);
}

/** Ends a line of dots, so that the next text begins on a new line. */
function endDots() {
  if (hasOpenDots) process.stderr.write("\n");
  hasOpenDots = false;
}

function dot() {
  if (!process.stderr.isTTY) return;
  process.stderr.write(".");
  hasOpenDots = true;
}

function fail(text, code = 1) {
  process.stderr.write(`${text}\n`);
  process.exit(code);
}

function exampleNamed(name) {
  const names = readdirSync(join(root, "examples"))
    .filter((file) => file.endsWith(".ts") && file !== "local-system.ts")
    .map((file) => file.slice(0, -".ts".length));
  if (!names.includes(name)) {
    const usage = `usage: npm run example ${names.join("|")}`;
    if (name !== "--help" && name !== "-h") fail(usage, 2);
    console.log(usage);
    process.exit(0);
  }
  return `examples/${name}.ts`;
}

function requireNode(major, minor, why = "") {
  const [foundMajor = 0, foundMinor = 0] = process.versions.node.split(".").map(Number);
  if (foundMajor < major || (foundMajor === major && foundMinor < minor)) {
    fail(`Node ${major}.${minor} or newer is required${why}, got ${process.versions.node}`);
  }
}

/**
 * Ends this process if npm dies without forwarding a signal (npm gets SIGKILL, or SIGHUP, which npm does not
 * forward). A process that was started without npm may be left running on purpose.
 */
function exitWithCaller() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const caller = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === caller) return;
    clearInterval(watch);
    // The handlers of `forwardSignals` forward it to the running child; between two steps it ends this
    // process.
    process.kill(process.pid, "SIGTERM");
  }, 250);
  watch.unref();
}

/**
 * Installs with the frozen lockfile, unless the files that determine the installation are unchanged since the
 * last one.
 */
async function installIfNeeded() {
  const wanted = installFingerprint();
  if (isInstalled(wanted)) return;
  await takeInstallLock();
  try {
    if (isInstalled(wanted)) return;
    say("installing packages (takes about a minute the first time)");
    const env = cachesInRepository();
    await runStep(
      "installing pnpm",
      "npm",
      ["ci", "--prefix", pnpmFolder, "--ignore-scripts", "--no-audit", "--no-fund"],
      { env },
    );
    const options = ["--frozen-lockfile", "--reporter=append-only", "--config.confirmModulesPurge=false"];
    await runStep(
      "installing packages",
      process.execPath,
      [join(pnpmFolder, "node_modules", "pnpm", "bin", "pnpm.cjs"), "install", ...options],
      { env },
    );
    // pnpm succeeds even if it cannot fetch an optional package or its hash differs from the lockfile.
    if (!existsSync(workspaceNode)) {
      rmSync(lockFile, { force: true });
      fail(
        `node-${platform} was not installed: the download failed or its hash differs from pnpm-lock.yaml; try again`,
      );
    }
    writeFileSync(stampFile, wanted);
  } finally {
    rmSync(lockFile, { force: true });
  }
}

function installFingerprint() {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  const manifests = ["apps", "packages"].flatMap((group) =>
    readdirSync(join(root, group))
      .sort()
      .map((name) => join(group, name, "package.json")),
  );
  const pnpmLock = join("scripts", "pnpm", "package-lock.json");
  for (const file of [pnpmLock, "pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...manifests]) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(`\0${file}\0`).update(readFileSync(path));
  }
  return hash.digest("hex");
}

function isInstalled(fingerprint) {
  return (
    existsSync(workspaceNode) && existsSync(stampFile) && readFileSync(stampFile, "utf8") === fingerprint
  );
}

/** Prevents two commands that were started together from installing at the same time. */
async function takeInstallLock() {
  mkdirSync(dirname(lockFile), { recursive: true });
  for (let reported = false; ;) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: "wx" });
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const holder = existsSync(lockFile) ? Number(readFileSync(lockFile, "utf8")) : 0;
    if (holder > 0 && !isAlive(holder)) {
      rmSync(lockFile, { force: true });
      continue;
    }
    if (!reported) say(`waiting for process ${holder}, which is installing packages`);
    reported = true;
    await sleep(250);
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/**
 * Moves the caches of npm and pnpm into the repository if the home directory is not writable.
 */
function cachesInRepository() {
  try {
    accessSync(homedir(), constants.W_OK);
    return {};
  } catch {
    const caches = join(root, ".cache");
    return {
      HOME: join(caches, "home"),
      npm_config_cache: join(caches, "npm"),
      npm_config_store_dir: join(caches, "pnpm-store"),
    };
  }
}

/**
 * The environment of the running local system, from `.localnet`, for operator commands. Empty if the caller
 * sets a database or no local system exists.
 */
function localEnvironment() {
  if ((process.env.DATABASE_URL ?? "") !== "") return {};
  // A deployment needs no database, and must never use local chains instead of those of its ENVIRONMENT.
  if (args[0] === "deploy" && (process.env.ENVIRONMENT ?? "") !== "") return {};
  try {
    const folder = join(root, ".localnet");
    const { portBase } = JSON.parse(readFileSync(join(folder, "endpoints.json"), "utf8"));
    const { PATH: _ignored, ...env } = JSON.parse(
      readFileSync(join(folder, String(portBase), "environment.json"), "utf8"),
    );
    return env;
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return {};
  }
}

/**
 * Runs one step of the preparation. Reports it if it takes longer than `quietForMs`, and again at each
 * progress; in between, a terminal gets dots. If the step fails, prints the end of its output and exits.
 */
async function runStep(title, program, programArgs, { env = {}, quietForMs = 3_000 } = {}) {
  const child = spawn(program, programArgs, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let progress = "";
  const listen = (chunk) => {
    output = (output + chunk).slice(-20_000);
    progress =
      output
        .match(/.*(?:resolved|downloaded|Done in).*(?=\n[^\n]*$)/g)
        ?.at(-1)
        ?.trim() ?? progress;
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  let reported = "";
  const beat = setInterval(() => {
    const report = progress === "" ? `${title} …` : `${title}: ${progress}`;
    if (report !== reported) say(report);
    else dot();
    reported = report;
  }, quietForMs);
  const stopForwarding = forwardSignals(child);
  const { code, signal, error } = await new Promise((settle) => {
    child.once("error", (problem) => settle({ code: 1, signal: null, error: problem }));
    child.once("close", (exitCode, bySignal) => settle({ code: exitCode, signal: bySignal }));
  });
  clearInterval(beat);
  endDots();
  stopForwarding();
  if (code === 0) return;
  rmSync(lockFile, { force: true });
  const tail = output.trimEnd().split("\n").slice(-40).join("\n");
  if (error !== undefined) fail(`${title}: cannot run ${program}: ${error.message}`);
  fail(
    `${tail}\n${title} failed (${signal ?? `exit code ${code}`}); see the end of its output above`,
    exitCodeOf(code, signal),
  );
}

/** Runs the requested program as if it had been called directly: same terminal, signals and exit code. */
async function runProgram(program, programArgs, env) {
  if (!existsSync(join(root, program))) fail(`${program} does not exist`);
  const child = spawn(workspaceNode, ["-C", "source", program, ...programArgs], {
    cwd: root,
    env: { NODE_COMPILE_CACHE: join(root, ".cache", "code"), ...process.env, ...env },
    // Carries no messages: if it closes, a long-running program knows that this process died without
    // forwarding a signal.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  forwardSignals(child);
  child.once("error", (error) => fail(`cannot run ${workspaceNode}: ${error.message}`));
  child.once("exit", (code, signal) => process.exit(exitCodeOf(code, signal)));
}

function forwardSignals(child) {
  const forwarders = ["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => [signal, () => child.kill(signal)]);
  for (const [signal, forward] of forwarders) process.on(signal, forward);
  return () => forwarders.forEach(([signal, forward]) => process.off(signal, forward));
}

function exitCodeOf(code, signal) {
  return code ?? 128 + (osConstants.signals[signal] ?? 0);
}
