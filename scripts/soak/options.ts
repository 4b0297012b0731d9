import { parseArgs } from "node:util";

export type Mode = "load" | "onceLatency" | "lane" | "routes" | "families" | "takeovers";

export interface SoakOptions {
  readonly mode: Mode;
  readonly requests: number;
  readonly chaos: boolean;
  /** The run fails if an alert rule fires. */
  readonly watched: boolean;
  /** How many times another worker must take over from the leader. */
  readonly takeovers: number;
  /** With chaos: how many times a worker is killed, and one chain reorganized. */
  readonly kills: number;
  readonly reorgs: number;
  readonly portBase: number;
  readonly seed: number;
  readonly jsonFile: string | undefined;
  /** Keeps the system running afterwards, until Ctrl-C. */
  readonly keep: boolean;
}

export const usage = `usage: npm run soak -- [options]
  --requests N     requests to start within 20 s (default 200)
  --chaos          two APIs and two workers; workers are killed and one chain reorgs during the run
  --kills N        number of worker kills with --chaos (default 10)
  --reorgs N       number of reorgs with --chaos (default 5)
  --watched        no alert rule of Prometheus may fire; starts three oracles, and ends when no alert is pending
  --once-latency   30 requests in sequence, to measure the latency of a fill on an idle system
  --lane N         N fills in flight at once on one lane, with slow blocks
  --takeovers N    kill, freeze or disconnect the leading worker N times; another must lead within 5 s; 4 requests each
  --routes         every currency pair with every trade type, including all kinds of swaps, concurrently
  --families       requests between EVM chains, Solana, Bitcoin and Hyperliquid with every feature of their routes, settled (default 60)
  --port-base P    first of the ports to use (default 19500)
  --seed S         repeat the requests of an earlier run (default: random)
  --json FILE      also write figures and findings to FILE
  --keep           keep the system running at the end, until Ctrl-C`;

const defaultRequests: Readonly<Record<Mode, number>> = {
  load: 200,
  families: 60,
  onceLatency: 30,
  lane: 30,
  takeovers: 4,
  routes: 30,
};

/** @throws RangeError for an invalid value, TypeError for an unknown option */
export function readOptions(args: readonly string[], randomSeed: number): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      requests: { type: "string" },
      chaos: { type: "boolean", default: false },
      watched: { type: "boolean", default: false },
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
    throw new RangeError(
      "--lane, --takeovers, --once-latency, --routes and --families are mutually exclusive",
    );
  const [mode = "load"] = modes;
  if (mode !== "load" && mode !== "families" && values.chaos)
    throw new RangeError("--chaos is only supported with --requests and --families");
  if (values.watched && (mode !== "load" || values.chaos))
    throw new RangeError("--watched is only supported with --requests, and without --chaos");
  if (!values.chaos && (values.kills ?? values.reorgs) !== undefined)
    throw new RangeError("--kills and --reorgs require --chaos");
  if (mode === "families" && values.reorgs !== undefined)
    throw new RangeError("--reorgs is not supported with --families");
  return {
    mode,
    requests:
      mode === "lane"
        ? wholeNumber("lane", values.lane, 100, 500)
        : wholeNumber("requests", values.requests, defaultRequests[mode], 5_000),
    takeovers: wholeNumber("takeovers", values.takeovers, 20, 200),
    chaos: values.chaos,
    watched: values.watched,
    kills: wholeNumber("kills", values.kills, 10, 1_000),
    reorgs: wholeNumber("reorgs", values.reorgs, 5, 1_000),
    portBase: wholeNumber("port-base", values["port-base"], 19_500, 65_000),
    seed: wholeNumber("seed", values.seed, randomSeed, 2 ** 32 - 1),
    jsonFile: values.json,
    keep: values.keep,
  };
}

function wholeNumber(name: string, text: string | undefined, defaultValue: number, max: number): number {
  if (text === undefined) return defaultValue;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max)
    throw new RangeError(`--${name} must be an integer from 1 to ${max}, got ${text}`);
  return value;
}
