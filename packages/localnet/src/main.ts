// Entry of `npm start`: starts the whole system on this machine, sends one bridge through it, and runs until
// Ctrl-C.
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { demonstrate } from "./demonstration.ts";
import { runningSystems } from "./endpoints.ts";
import { ephemeralWarning, suggestPortBase, readEphemeralRange } from "./ephemeral-ports.ts";
import { PortInUse } from "@causeway/testkit";
import { defaultPortBase, isInPortBlock, portBlock } from "./local-chains.ts";
import { readSetOption } from "./set-option.ts";
import { startSystem, type System } from "./system.ts";
import { terminalStyle } from "./terminal.ts";
import { systemSummary } from "./system-summary.ts";

const usage = `usage: npm start [-- options]
  --once          exit after the demo transfer; the exit code is 0 if the money arrived and was settled
  --tour          also start Solana, Bitcoin and Hyperliquid, and send money through all of them
  --port-base N   first of the ${portBlock} ports of the system (default ${defaultPortBase}); use another one to run a second system
  --apis N        number of API processes, 1 to 5
  --workers N     number of worker processes, 1 to 5
  --oracles N     number of oracles, 0 to 3 (default 3, of which 2 form a quorum); with 0, nothing is settled
  --set NAME=VALUE  set a variable from docs/CONFIG.md for the API and the workers; can be repeated. Examples:
                  RATE_LIMITS=on, FILL_INVENTORY_WAIT_MS=10000
Set DATABASE_URL and REDIS_URL to use your own servers instead of the embedded ones. Set LOCAL_A_RPC_URL, LOCAL_A_WS_URL,
LOCAL_B_RPC_URL and LOCAL_B_WS_URL to use running EVM nodes, with LOCAL_FUNDING_PRIVATE_KEY, the key of
a funded account on them; see packages/localnet/README.md.`;

/** An idle machine needs less than this. */
const TYPICAL_MS = { start: 60_000, bridge: 30_000, tour: 120_000 };
const startedAtMs = performance.now();
const style = terminalStyle(process.stdout);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const log = (text: string): void =>
  print(`${style.dim(`[${((performance.now() - startedAtMs) / 1_000).toFixed(1).padStart(5)} s]`)} ${text}`);

// Writing to a closed terminal fails; the orderly shutdown must continue regardless.
process.stdout.on("error", () => undefined);
process.exitCode = await main();
// Do not wait for open handles, such as idle connections to nodes.
process.exit();

interface Arguments {
  readonly help: boolean;
  readonly once: boolean;
  readonly tour: boolean;
  readonly portBase: number;
  readonly apis: number;
  readonly workers: number;
  readonly oracles: 0 | 1 | 2 | 3;
  readonly settings: Readonly<Record<string, string>>;
}

async function main(): Promise<number> {
  let args: Arguments;
  try {
    args = readArguments();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
    return 2;
  }
  if (args.help) {
    print(usage);
    return 0;
  }
  return await run(args);
}

function readArguments(): Arguments {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h", default: false },
      once: { type: "boolean", default: false },
      tour: { type: "boolean", default: false },
      "port-base": { type: "string", default: String(defaultPortBase) },
      apis: { type: "string", default: "1" },
      workers: { type: "string", default: "1" },
      oracles: { type: "string", default: "3" },
      set: { type: "string", multiple: true, default: [] },
    },
  });
  return {
    help: values.help,
    once: values.once,
    tour: values.tour,
    portBase: wholeNumber("port-base", values["port-base"], 1_024, 65_500),
    apis: wholeNumber("apis", values.apis, 1, 5),
    workers: wholeNumber("workers", values.workers, 1, 5),
    oracles: oracleCount(values.oracles),
    settings: Object.fromEntries(values.set.map((text) => readSetOption(text))),
  };
}

async function run(args: Arguments): Promise<number> {
  const stopRequest = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => stopRequest.abort(signal));
  // Fires only if the Node.js process that started this one died without forwarding a signal.
  process.on("disconnect", () => stopRequest.abort("disconnect"));
  process.channel?.unref();

  let system: System | undefined;
  try {
    system = await boot(args, stopRequest);
    for (const warning of await settingWarnings(system.apis[0]?.logFile, Object.keys(args.settings)))
      print(style.failed(`--set ${warning}`));
    const stopped = waitForAbort(stopRequest.signal);
    const typicalMs = args.tour ? TYPICAL_MS.tour : TYPICAL_MS.bridge;
    const demonstrations = withHint(runDemonstrations(system, args.tour), typicalMs, "still running");
    const arrived = await Promise.race([demonstrations, stopped.then(() => false)]);
    if (args.once) return arrived ? 0 : 1;
    if (!stopRequest.signal.aborted) for (const line of systemSummary(system, style)) print(line);
    await stopped;
    return stopRequest.signal.reason === "exit" ? 1 : 0;
  } catch (error) {
    if (stopRequest.signal.aborted && stopRequest.signal.reason !== "exit") return 130;
    print(style.failed(await explain(error, args.portBase)));
    return 1;
  } finally {
    if (system !== undefined) {
      log("stopping");
      await system.stop();
      log("stopped; all processes have ended");
    }
  }
}

/** The API's warnings about these variables: a misspelled one has no effect. */
async function settingWarnings(logFile = "", names: readonly string[]): Promise<readonly string[]> {
  if (names.length === 0) return [];
  // The last element is empty or an incomplete line.
  const lines = (await readFile(logFile, "utf8")).split("\n").slice(0, -1);
  return lines
    .filter((line) => line.startsWith("{"))
    .map((line) => (JSON.parse(line) as { readonly warning?: string }).warning ?? "")
    .filter((warning) => names.some((name) => warning.startsWith(`${name} `)));
}

/** One bridge, and the tour if requested. */
async function runDemonstrations(system: System, withTour: boolean): Promise<boolean> {
  const arrived = await demonstrate(system, print, style);
  if (!withTour || !arrived) return arrived;
  const { showTour } = await import("./tour/show-tour.ts");
  return await showTour(system, print, style);
}

async function boot(args: Arguments, stopRequest: AbortController): Promise<System> {
  const warning = await ephemeralWarning(args.portBase, await readEphemeralRange());
  if (warning !== undefined) log(warning);
  log(
    args.tour
      ? "starting Postgres, Redis, two EVM chains, the hub, Solana, Bitcoin and Hyperliquid"
      : "starting Postgres, Redis, two chains and the hub",
  );
  return await withHint(
    startSystem({
      env: process.env,
      portBase: args.portBase,
      apis: args.apis,
      workers: args.workers,
      oracles: args.oracles,
      families: args.tour,
      appEnv: args.settings,
      onProgress: log,
      onUnexpectedExit: (facts) => {
        print(
          `${facts.name} exited unexpectedly (${facts.exit.signal ?? `exit code ${facts.exit.code}`}), see ${facts.logFile}`,
        );
        print(facts.logTail);
        // The quorum works without one oracle; users can kill one to try that.
        if (!facts.name.startsWith("oracle-")) stopRequest.abort("exit");
      },
      signal: stopRequest.signal,
    }),
    TYPICAL_MS.start,
    "still starting",
  );
}

/** Prints a hint once if the work takes longer than usual. */
async function withHint<Result>(work: Promise<Result>, typicalMs: number, doing: string): Promise<Result> {
  const hint = setTimeout(() => log(`${doing}; this machine is slow or busy`), typicalMs);
  hint.unref();
  try {
    return await work;
  } finally {
    clearTimeout(hint);
  }
}

async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

async function explain(error: unknown, portBase: number): Promise<string> {
  if (!(error instanceof PortInUse)) return error instanceof Error ? error.message : String(error);
  const systems = await runningSystems();
  const portUser = systems.find((system) => isInPortBlock(error.port, system.portBase));
  const explanation =
    portUser === undefined
      ? ""
      : ` Another local system uses the port (process ${portUser.pid}, port base ${portUser.portBase}).`;
  return `Cannot start: ${error.message}.${explanation} Stop the process that uses the port, or choose other ports: npm start -- --port-base ${await suggestPortBase(portBase, await readEphemeralRange())}`;
}

function oracleCount(text: string): Arguments["oracles"] {
  const count = ([0, 1, 2, 3] as const).find((number) => text === String(number));
  if (count === undefined) throw new RangeError(`--oracles must be an integer from 0 to 3, got ${text}`);
  return count;
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value >= min && value <= max) return value;
  throw new RangeError(`--${name} must be an integer from ${min} to ${max}, got ${text}`);
}
