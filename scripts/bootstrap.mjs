#!/usr/bin/env node
// Plain JavaScript that any Node >= 20.19 runs with nothing installed: obtains pnpm, installs when needed,
// builds the contracts when stale, then hands over to the real program on the workspace's own Node.
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

// Not `import.meta.dirname`, which Node 18 lacks: this file must run there far enough to say what is
// required.
const root = fileURLToPath(new URL("..", import.meta.url));
// A lockfile of its own holds pnpm's hash: what installs everything else must not come unchecked.
const pnpmFolder = join(root, "scripts", "pnpm");
// The lockfile holds a Node with its hash for these platforms; elsewhere the caller's own Node runs
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
let dotting = false;

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
endWithCaller();
await installWhenNeeded();
if (command !== "example" && !isCompiled())
  await runStep(
    "building contracts",
    workspaceNode,
    ["-C", "source", "packages/contracts/scripts/compile.ts"],
    { quietForMs: 1_000 },
  );
await handOver(programs[command], args, command === "operator" ? localEnvironment() : {});

function say(text) {
  endDots();
  process.stderr.write(`[${((Date.now() - startedAtMs) / 1_000).toFixed(1).padStart(5)} s] ${text}\n`);
}

/** A line of dots is open: what is printed next begins on a new one. */
function endDots() {
  if (dotting) process.stderr.write("\n");
  dotting = false;
}

function dot() {
  if (!process.stderr.isTTY) return;
  process.stderr.write(".");
  dotting = true;
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
  const [haveMajor = 0, haveMinor = 0] = process.versions.node.split(".").map(Number);
  if (haveMajor < major || (haveMajor === major && haveMinor < minor)) {
    fail(`Node ${major}.${minor} or newer is required${why}, got ${process.versions.node}`);
  }
}

/**
 * Ends this process when npm died without passing a signal on (SIGKILL, or SIGHUP, which it keeps to itself).
 * A process started without npm may be left running on purpose.
 */
function endWithCaller() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const caller = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === caller) return;
    clearInterval(watch);
    // To ourselves: what runs is passed the signal, and between two steps it ends us.
    process.kill(process.pid, "SIGTERM");
  }, 250);
  watch.unref();
}

/**
 * Installs with the frozen lockfile unless the files that decide what is installed are those of the last
 * time.
 */
async function installWhenNeeded() {
  const wanted = installFingerprint();
  if (isInstalled(wanted)) return;
  await takeInstallLock();
  try {
    if (isInstalled(wanted)) return;
    say("installing packages (takes about a minute the first time)");
    const env = ownCachesWhenHomeIsReadOnly();
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
    // pnpm skips an optional package that it cannot fetch, or whose hash is not the lockfile's, and succeeds.
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

/** Two commands started at once in one folder must not install into it together. */
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
 * Both package managers keep caches at home; without a home to write to, they keep them in the repository.
 */
function ownCachesWhenHomeIsReadOnly() {
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
 * What an operator of the local system that runs is given, when no database was named: `.localnet` holds it.
 */
function localEnvironment() {
  if ((process.env.DATABASE_URL ?? "") !== "") return {};
  // A deployment needs no database, and its chains must never be replaced by local ones.
  if (args[0] === "deploy" && (process.env.ENVIRONMENT ?? "") !== "") return {};
  try {
    const folder = join(root, ".localnet");
    const { portBase } = JSON.parse(readFileSync(join(folder, "endpoints.json"), "utf8"));
    const { PATH: _ours, ...env } = JSON.parse(
      readFileSync(join(folder, String(portBase), "environment.json"), "utf8"),
    );
    return env;
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return {};
  }
}

/**
 * Runs one preparing step: tells once that it goes on when it takes longer than `quietForMs`, again whenever
 * there is progress to tell, and all it printed when it failed. A terminal sees the seconds in between go by
 * as dots.
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
    const news = progress === "" ? `${title} …` : `${title}: ${progress}`;
    if (news !== reported) say(news);
    else dot();
    reported = news;
  }, quietForMs);
  const stopPassing = passSignals(child);
  const { code, signal, error } = await new Promise((settle) => {
    child.once("error", (problem) => settle({ code: 1, signal: null, error: problem }));
    child.once("close", (exitCode, bySignal) => settle({ code: exitCode, signal: bySignal }));
  });
  clearInterval(beat);
  endDots();
  stopPassing();
  if (code === 0) return;
  rmSync(lockFile, { force: true });
  const tail = output.trimEnd().split("\n").slice(-40).join("\n");
  if (error !== undefined) fail(`${title}: cannot run ${program}: ${error.message}`);
  fail(
    `${tail}\n${title} failed (${signal ?? `exit code ${code}`}); see the end of its output above.`,
    exitCodeOf(code, signal),
  );
}

/** Runs the real program as if it had been called itself: same terminal, same signals, same exit code. */
async function handOver(program, programArgs, env) {
  if (!existsSync(join(root, program))) fail(`${program} does not exist`);
  const child = spawn(workspaceNode, ["-C", "source", program, ...programArgs], {
    cwd: root,
    env: { NODE_COMPILE_CACHE: join(root, ".cache", "code"), ...process.env, ...env },
    // The channel carries nothing: its closing tells a long-running program that we died without passing a
    // signal on.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  passSignals(child);
  child.once("error", (error) => fail(`cannot run ${workspaceNode}: ${error.message}`));
  child.once("exit", (code, signal) => process.exit(exitCodeOf(code, signal)));
}

function passSignals(child) {
  const passers = ["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => [signal, () => child.kill(signal)]);
  for (const [signal, pass] of passers) process.on(signal, pass);
  return () => passers.forEach(([signal, pass]) => process.off(signal, pass));
}

function exitCodeOf(code, signal) {
  return code ?? 128 + (osConstants.signals[signal] ?? 0);
}
