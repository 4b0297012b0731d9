import { parseArgs } from "node:util";

export type Mode = "load" | "onceLatency" | "lane" | "routes" | "families" | "takeovers";

export interface SoakOptions {
  readonly mode: Mode;
  readonly requests: number;
  readonly chaos: boolean;
  /** How often the leading worker is broken. */
  readonly takeovers: number;
  /** How often a worker is killed, and one chain reorganised, in chaos. */
  readonly kills: number;
  readonly reorgs: number;
  readonly portBase: number;
  readonly seed: number;
  readonly jsonFile: string | undefined;
  /** Leave the system up afterwards, until Ctrl-C. */
  readonly keep: boolean;
}

export const usage = `usage: npm run soak -- [options]
  --requests N     requests to start within 20 s (default 200)
  --chaos          two APIs, two workers; workers are killed and one chain reorganises meanwhile
  --kills N        how often a worker is killed in chaos (default 10)
  --reorgs N       how often a chain reorganises in chaos (default 5)
  --once-latency   30 requests one after another: what a fill takes when nothing else happens
  --lane N         N fills in flight at once on one lane, with slow blocks
  --takeovers N    N times the leading worker is killed, frozen or cut off from Postgres: another leads within 10 s; 4 requests each
  --routes         every pair of currencies with every trade type, swaps of all kinds among them, all at once
  --families       between chains of all families (EVM, Solana, Bitcoin, a perpetuals exchange), attested and settled; 60 requests unless --requests says
  --port-base P    first of the ports to use (default 19500)
  --seed S         repeats the requests of an earlier run (default: another one each time)
  --json FILE      writes the figures and findings there as well
  --keep           leaves the system up at the end, until Ctrl-C`;

const usualRequests: Readonly<Record<Mode, number>> = {
  load: 200,
  families: 60,
  onceLatency: 30,
  lane: 30,
  takeovers: 4,
  routes: 30,
};

/** @throws RangeError for a value that makes no sense, TypeError for an option there is not */
export function readOptions(args: readonly string[], randomSeed: number): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      requests: { type: "string" },
      chaos: { type: "boolean", default: false },
      kills: { type: "string" },
      reorgs: { type: "string" },
      "once-latency": { type: "boolean", default: false },
      lane: { type: "string" },
      takeovers: { type: "string" },
      routes: { type: "boolean", default: false },
      families: { type: "boolean", default: false },
      "port-base": { type: "string" },
      seed: { type: "string" },
      json: { type: "string" },
      keep: { type: "boolean", default: false },
    },
  });
  const modes: Mode[] = [
    ...(values.lane === undefined ? [] : ["lane" as const]),
    ...(values.takeovers === undefined ? [] : ["takeovers" as const]),
    ...(values["once-latency"] ? ["onceLatency" as const] : []),
    ...(values.routes ? ["routes" as const] : []),
    ...(values.families ? ["families" as const] : []),
  ];
  if (modes.length > 1)
    throw new RangeError("one of --lane, --takeovers, --once-latency, --routes and --families at a time");
  const [mode = "load"] = modes;
  if (mode !== "load" && mode !== "families" && values.chaos)
    throw new RangeError("--chaos goes with --requests and --families only");
  if (!values.chaos && (values.kills ?? values.reorgs) !== undefined)
    throw new RangeError("--kills and --reorgs go with --chaos only");
  if (mode === "families" && values.reorgs !== undefined)
    throw new RangeError("--reorgs goes with --requests only: a families run makes no reorgs");
  return {
    mode,
    requests:
      mode === "lane"
        ? wholeNumber("lane", values.lane, 100, 500)
        : wholeNumber("requests", values.requests, usualRequests[mode], 5_000),
    takeovers: wholeNumber("takeovers", values.takeovers, 20, 200),
    chaos: values.chaos,
    kills: wholeNumber("kills", values.kills, 10, 1_000),
    reorgs: wholeNumber("reorgs", values.reorgs, 5, 1_000),
    portBase: wholeNumber("port-base", values["port-base"], 19_500, 65_000),
    seed: wholeNumber("seed", values.seed, randomSeed, 2 ** 32 - 1),
    jsonFile: values.json,
    keep: values.keep,
  };
}

function wholeNumber(name: string, text: string | undefined, byDefault: number, most: number): number {
  if (text === undefined) return byDefault;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most)
    throw new RangeError(`--${name} must be a whole number from 1 to ${most}, not ${text}`);
  return value;
}
