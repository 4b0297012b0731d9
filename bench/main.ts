// Entry of `npm run bench`: the speed of quotes, status answers and attestations, compared with a server
// that does nothing.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { programOptions } from "../scripts/program-options.ts";
import { captureAnswers, quoteRequest, statusRequest } from "./capture.ts";
import { chooseCores } from "./cores.ts";
import { judge, type RunFigures } from "./goals.ts";
import { judgeOracle, oracleLines } from "./oracle/judge-oracle.ts";
import { measureOracle } from "./oracle/measure-oracle.ts";
import { judgeExecution, executionLines } from "./execution/judge-execution.ts";
import { measureExecution } from "./execution/measure-execution.ts";
import { fillLines, judgeFills } from "./fills/judge-fills.ts";
import { measureFills } from "./fills/measure-fills.ts";
import { historyLines, judgeHistory } from "./history/judge-history.ts";
import { benchHistory } from "./history/bench-history.ts";
import { judgePush, pushLines } from "./push/judge-push.ts";
import { measurePush } from "./push/measure-push.ts";
import { judgeSwaps } from "./swaps/judge-swaps.ts";
import { measureSwaps } from "./swaps/measure-swaps.ts";
import { swapLines } from "./swaps/swap-lines.ts";
import { readOptions, usage, type BenchOptions, type BenchPart } from "./options.ts";
import { compileRoutes, measureChainCost, measurePhase } from "./phase.ts";
import { quoteBodies } from "./quote-requests.ts";
import { doubtsOf, tableOf, verdictLines } from "./report.ts";
import { countRequests, someRequestIds, storeRequests } from "./stored-requests.ts";
import { startWorld } from "./world.ts";

const USERS = 200;
const lastRunFile = join(import.meta.dirname, "last-run.json");

const startedAtMs = performance.now();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const say = (text: string): void =>
  print(`[${((performance.now() - startedAtMs) / 1_000).toFixed(1).padStart(6)} s] ${text}`);

process.stdout.on("error", () => undefined);
process.exitCode = await main();
process.exit();

async function main(): Promise<number> {
  const options = programOptions(usage, readOptions);
  const stopRequested = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => stopRequested.abort(signal));
  process.on("disconnect", () => stopRequested.abort("disconnect"));
  process.channel?.unref();
  try {
    return await run(options, stopRequested.signal);
  } catch (error) {
    if (stopRequested.signal.aborted) return 130;
    print(`Measurement failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

async function run(options: BenchOptions, signal: AbortSignal): Promise<number> {
  const cores = chooseCores();
  if (cores === undefined) {
    print(
      "!!! Processes cannot be pinned (no taskset, or only one core): server and load tool disturb each other,",
    );
    print("!!! and the figures below are unreliable.");
  } else {
    say(`server on core ${cores.server}; load tool, database, chains and worker on core ${cores.others}`);
  }
  const wants = (part: BenchPart): boolean => options.parts.includes(part);
  const figures = wants("api") ? await measure(options, cores, signal) : undefined;
  const swaps = wants("swaps") ? await measureSwaps(cores, options, process.env, say, signal) : undefined;
  if (wants("oracle")) say("measuring the oracle");
  const oracle = wants("oracle") ? await measureOracle(cores, options, signal) : undefined;
  if (wants("execution")) say("measuring executions compared with a bundler");
  const execution = wants("execution")
    ? await measureExecution(options, process.env, say, signal)
    : undefined;
  if (wants("push")) say("measuring the latency from commit to sockets");
  const push = wants("push") ? await measurePush(cores, options, process.env, signal) : undefined;
  if (wants("history")) say(`storing ${options.rows.toLocaleString("en")} past requests and querying them`);
  const history = wants("history") ? await benchHistory(options, process.env, signal) : undefined;
  if (wants("fills")) say("measuring fills; all processes share the cores");
  const fills = wants("fills") ? await measureFills(cores, options, process.env, say, signal) : undefined;
  const verdicts = [
    ...(figures ? judge(figures.measured) : []),
    ...(swaps ? judgeSwaps(swaps) : []),
    ...(oracle ? judgeOracle(oracle) : []),
    ...(execution ? judgeExecution(execution) : []),
    ...(push ? judgePush(push) : []),
    ...(history ? judgeHistory(history) : []),
    ...(fills ? judgeFills(fills) : []),
  ];
  for (const line of [
    ...(figures ? ["", ...tableOf(figures.measured)] : []),
    ...(swaps ? ["", ...swapLines(swaps)] : []),
    ...(oracle ? ["", ...oracleLines(oracle)] : []),
    ...(execution ? ["", ...executionLines(execution)] : []),
    ...(push ? ["", ...pushLines(push)] : []),
    ...(history ? ["", ...historyLines(history)] : []),
    ...(fills ? ["", ...fillLines(fills)] : []),
    "",
    ...(figures ? doubtsOf(figures.measured) : []),
    ...verdictLines(verdicts),
  ])
    print(line);
  const missed = verdicts.filter(({ passed }) => !passed);
  const facts = { at: new Date().toISOString(), node: process.version, cores: cores ?? null, options };
  await writeFile(
    lastRunFile,
    `${JSON.stringify({ ...facts, ...figures, swaps, oracle, execution, push, history, fills, verdicts }, undefined, 2)}\n`,
  );
  print(
    missed.length === 0 ? "\nAll goals are met." : `\nMissed: ${missed.map(({ goal }) => goal).join("; ")}`,
  );
  return missed.length === 0 ? 0 : 1;
}

async function measure(
  options: BenchOptions,
  cores: ReturnType<typeof chooseCores>,
  signal: AbortSignal,
): Promise<{ readonly measured: RunFigures; readonly insertSeconds: number }> {
  const world = await startWorld({
    env: process.env,
    portBase: options.portBase,
    cores,
    onProgress: say,
    signal,
  });
  try {
    const { databaseUrl } = world;
    const bodies = quoteBodies(world.chains, USERS);
    const quotes = bodies.map(quoteRequest);
    // The first quotes; the stored ones are generated from their terms.
    await world.tool.singles({ url: world.api.url, requests: quotes, count: 100 });
    await storeRequests(databaseUrl, { from: 0, count: options.statusIds }, signal);
    const statusesOf = async (stored: number) =>
      (await someRequestIds(databaseUrl, stored, options.statusIds)).map(statusRequest);
    const statuses = await statusesOf(options.statusIds);
    const bare = await world.startBare(await captureAnswers(world.api.url, bodies, statuses));

    say("warming up the API");
    await compileRoutes(world, { quotes, statuses });
    say("measuring");
    const before = await measurePhase(
      world,
      bare,
      { quotes, statuses },
      options,
      await countRequests(databaseUrl),
    );
    say("counting chain calls");
    const chainCost = await measureChainCost(world, quotes, options.secondsPerLoad);
    if (options.rows === 0) return { measured: { before, after: undefined, chainCost }, insertSeconds: 0 };

    say(`storing ${options.rows.toLocaleString("en")} requests`);
    const insertStartMs = performance.now();
    await storeRequests(databaseUrl, { from: options.statusIds, count: options.rows }, signal);
    const insertSeconds = (performance.now() - insertStartMs) / 1_000;
    say(`stored in ${insertSeconds.toFixed(1)} s; measuring again`);
    const questions = { quotes, statuses: await statusesOf(options.statusIds + options.rows) };
    const after = await measurePhase(world, bare, questions, options, await countRequests(databaseUrl));
    return { measured: { before, after, chainCost }, insertSeconds };
  } finally {
    say("stopping");
    await world.stop();
  }
}
