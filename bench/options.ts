import { defaultPortBase } from "@causeway/localnet";
import { parseArgs } from "node:util";

export const benchParts = ["api", "oracle", "execution", "push", "history", "swaps", "fills"] as const;
export type BenchPart = (typeof benchParts)[number];

export const usage =
  "usage: npm run bench -- [options]\n" +
  "  --quick         short rounds and 20000 stored requests: for development, the figures vary\n" +
  "  --rows N        past requests to store before measuring again (default 1000000)\n" +
  "  --only PART     measure only api, oracle, execution, push, history, swaps or fills\n" +
  "  --deposits N    deposits in the first block of the fills part (default 500)\n" +
  `  --port-base N   first of the ports to use (default ${defaultPortBase + 200})`;

/** How many deposits fit into a block of the local chains. */
const MAX_DEPOSITS = 600;

export interface BenchOptions {
  readonly isQuick: boolean;
  /** The parts to measure. */
  readonly parts: readonly BenchPart[];
  /** Stored requests to add before everything is measured again. */
  readonly rows: number;
  readonly portBase: number;
  /** Each round loads every route once, one route at a time. */
  readonly rounds: number;
  readonly secondsPerLoad: number;
  readonly warmUpSeconds: number;
  /** Quotes requested one at a time, per phase. */
  readonly singles: number;
  /** Distinct existing requests whose status is requested. */
  readonly statusIds: number;
  /** Sockets that follow one request each. */
  readonly subscribers: number;
  /** Deposits of one block. */
  readonly burstFills: number;
  /** Deposits that are sent one at a time. */
  readonly loneFills: number;
  readonly steadySeconds: number;
  /** How long the idle system is measured, to find the cost of fills. */
  readonly idleSeconds: number;
}

/**
 * `--quick` is for development: short rounds, with unstable figures.
 * @throws RangeError, or parseArgs' own error for an unknown option
 */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: "string" },
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      deposits: { type: "string" },
      // Avoids the ports of a system that `npm start` may be running.
      "port-base": { type: "string", default: String(defaultPortBase + 200) },
    },
  });
  const extent = values.quick
    ? {
        rounds: 3,
        secondsPerLoad: 1,
        warmUpSeconds: 1.5,
        singles: 400,
        statusIds: 6_400,
        subscribers: 1_000,
        loneFills: 15,
        steadySeconds: 5,
        idleSeconds: 10,
      }
    : {
        rounds: 7,
        secondsPerLoad: 4,
        warmUpSeconds: 6,
        singles: 2_000,
        statusIds: 32_000,
        subscribers: 10_000,
        loneFills: 100,
        steadySeconds: 30,
        idleSeconds: 30,
      };
  return {
    ...extent,
    isQuick: values.quick,
    parts: values.only === undefined ? benchParts : [partNamed(values.only)],
    rows: wholeNumber("rows", values.rows ?? (values.quick ? "20000" : "1000000"), 0, 100_000_000),
    burstFills: wholeNumber("deposits", values.deposits ?? (values.quick ? "150" : "500"), 1, MAX_DEPOSITS),
    portBase: wholeNumber("port-base", values["port-base"], 1_024, 65_500),
  };
}

function partNamed(text: string): BenchPart {
  const found = benchParts.find((part) => part === text);
  if (found === undefined)
    throw new RangeError(`--only must be one of ${benchParts.join(", ")}, got ${text}`);
  return found;
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
  throw new RangeError(`--${name} must be an integer from ${min} to ${max}, got ${text}`);
}
