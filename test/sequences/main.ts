// `npm run sequences`: random sequences over all features, against the real use cases and a real Postgres.
import { chooseServices } from "@causeway/testkit";
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { programOptions } from "../../scripts/program-options.ts";
import { createTemplateDatabase } from "../support/template-database.ts";
import { focusNames } from "./random-actions.ts";
import { anvilNodes } from "./anvil-nodes.ts";
import { checkSequences, failureText } from "./check-sequences.ts";
import { openHome } from "./home.ts";
import { memoryNodes } from "./memory-nodes.ts";
import { tally } from "./run-sequence.ts";
import type { NodeKind } from "./sequence-chain.ts";
import { START_MS } from "./world.ts";

const usage = `usage: npm run sequences -- [options]
  --runs N         number of sequences (default 10000, with anvil 50)
  --seed S         repeat the sequences of an earlier run (default: random); process n uses seed S + n
  --processes P    number of parallel processes (default: one per core, with anvil 1)
  --nodes KIND     memory: in-memory chains (default); anvil: two real nodes with the real contracts
  --focus NAMES    actions and choices to run more often, for example fastFill,address,reorg
  --path P         repeat one failure; use the printed seed and focus`;

interface SequenceOptions {
  readonly runs: number;
  readonly seed: number;
  readonly processes: number;
  readonly path: string | undefined;
  readonly nodes: NodeKind;
  readonly focus: readonly string[];
}

/** Messages of a process to its parent. */
type Message =
  | { readonly kind: "ran" }
  | {
      readonly kind: "ended";
      readonly runs: number;
      readonly failure: string | undefined;
      readonly tally: readonly (readonly [string, number])[];
    };

interface Share {
  readonly runs: number;
  readonly seed: number;
  readonly path: string | undefined;
  readonly nodes: NodeKind;
  readonly focus: readonly string[];
  readonly databaseUrl: string;
  readonly template: string;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const share = process.env["SEQUENCE_SHARE"];
process.exitCode = share === undefined ? await lead() : await work(JSON.parse(share) as Share);

/** Runs a share of the sequences in its own database. */
async function work({ runs, seed, path, nodes, focus, databaseUrl, template }: Share): Promise<number> {
  const sendToParent = (sent: Message): void => void process.send?.(sent);
  const home = await openHome(
    databaseUrl,
    template,
    `${template}_${process.pid}`,
    nodes === "anvil" ? await anvilNodes(START_MS) : memoryNodes(),
  );
  try {
    const report = await checkSequences(home, {
      runs,
      seed,
      path,
      focus,
      onRun: () => sendToParent({ kind: "ran" }),
    });
    const failure = report.failure && failureText(report.failure);
    sendToParent({ kind: "ended", runs: report.runs, failure, tally: [...tally] });
    return failure === undefined ? 0 : 1;
  } finally {
    await home.close();
    process.disconnect?.();
  }
}

/** @throws RangeError for an invalid value, TypeError for an unknown option */
function readOptions(args: readonly string[]): SequenceOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: "string" },
      seed: { type: "string" },
      processes: { type: "string" },
      path: { type: "string" },
      nodes: { type: "string", default: "memory" },
      focus: { type: "string", default: "" },
    },
  });
  const { path, nodes } = values;
  if (nodes !== "memory" && nodes !== "anvil")
    throw new RangeError(`--nodes must be memory or anvil, got ${nodes}`);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000_000));
  const isReal = nodes === "anvil";
  const { processes, runs } =
    path === undefined
      ? {
          processes: Number(values.processes ?? (isReal ? 1 : availableParallelism())),
          runs: Number(values.runs ?? (isReal ? 50 : 10_000)),
        }
      : { processes: 1, runs: 1 };
  for (const [name, value] of Object.entries({ seed, processes, runs }))
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`--${name} must be an integer, got ${value}`);
  const focus = values.focus.split(",").filter((name) => name !== "");
  const unknown = focus.filter((name) => !focusNames.includes(name));
  if (unknown.length > 0)
    throw new RangeError(
      `--focus must be any of ${[...new Set(focusNames)].join(", ")}; got ${unknown.join(", ")}`,
    );
  return { runs, seed, processes, path, nodes, focus };
}

async function lead(): Promise<number> {
  const { runs, seed, processes, path, nodes, focus } = programOptions(usage, readOptions);
  const services = await chooseServices(process.env);
  const template = await createTemplateDatabase(services.databaseUrl);
  const startedAtMs = performance.now();
  const seconds = (): string => ((performance.now() - startedAtMs) / 1000).toFixed(0);
  let done = 0;
  const progressTimer = setInterval(() => print(`[${seconds()} s] ${done} of ${runs} sequences`), 15_000);
  print(
    `${runs} sequences from seed ${seed} in ${processes} processes, ${nodes === "anvil" ? "real nodes" : "in-memory chains"}${focus.length > 0 ? `, focus on ${focus.join(", ")}` : ""}; ${services.description}`,
  );
  const total = new Map<string, number>();
  try {
    const failures = await Promise.all(
      Array.from({ length: processes }, (_, at) =>
        inProcess(
          {
            runs: Math.floor(runs / processes) + (at < runs % processes ? 1 : 0),
            seed: seed + at,
            path,
            nodes,
            focus,
            databaseUrl: services.databaseUrl,
            template: template.name,
          },
          (sent) => {
            if (sent.kind === "ran") done++;
            else for (const [kind, count] of sent.tally) total.set(kind, (total.get(kind) ?? 0) + count);
          },
        ),
      ),
    );
    const found = failures.filter((failure) => failure !== undefined);
    for (const failure of found) print(failure);
    print(
      [...total]
        .toSorted()
        .map(([kind, count]) => `${kind}: ${count}`)
        .join(", "),
    );
    print(`${done} sequences passed in ${seconds()} s, ${found.length} failed; seed ${seed}`);
    return found.length === 0 ? 0 : 1;
  } finally {
    clearInterval(progressTimer);
    await template.drop();
    await services.stop();
  }
}

/** @returns the text of the failure that it found */
async function inProcess(
  processShare: Share,
  onMessage: (sent: Message) => void,
): Promise<string | undefined> {
  if (processShare.runs === 0) return undefined;
  const child = fork(import.meta.filename, {
    env: { ...process.env, SEQUENCE_SHARE: JSON.stringify(processShare) },
    execArgv: ["-C", "source"],
  });
  let failure: string | undefined;
  child.on("message", (message) => {
    const sent = message as Message;
    if (sent.kind === "ended") failure = sent.failure;
    onMessage(sent);
  });
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  return code === 0
    ? undefined
    : (failure ?? `process of seed ${processShare.seed} exited with code ${code}`);
}
