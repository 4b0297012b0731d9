import { judgeMax, judgeMin, type Verdict } from "../goals.ts";
import { pairLines } from "../report.ts";
import { ORACLE_CONNECTIONS, type OracleFigures } from "./measure-oracle.ts";

const DEPOSIT_RATIO = 0.25;
const FILL_RATIO = 0.1;
const SIGNING_RATIO = 8;
const QUORUM_ADDS_MS = 5;

/** Judges the oracle's figures. A figure that could not be measured (NaN) misses its goal. */
export function judgeOracle({ deposits, fills, signing, quorum }: OracleFigures): Verdict[] {
  return [
    judgeMin("deposit attestations, relative to a bare POST", deposits.ratio, DEPOSIT_RATIO),
    judgeMin("fill attestations, relative to a bare POST", fills.ratio, FILL_RATIO),
    judgeMin("rate of hashing and signing, relative to viem", signing.ratio, SIGNING_RATIO),
    judgeMax(
      "latency added by a quorum to its slowest needed response",
      quorum.addedMs,
      QUORUM_ADDS_MS,
      " ms",
    ),
  ];
}

/** Below this share of its core, something other than the server limited the rate. */
const BUSY_ENOUGH = 0.7;

/** The figures as table lines. */
export function oracleLines({ deposits, fills, signing, quorum }: OracleFigures): string[] {
  const rates = [deposits.ours, deposits.bare, fills.ours, fills.bare];
  return [
    "Oracle: distinct transactions, chain facts answered immediately",
    ...pairLines("deposits", "bare POST", deposits, ORACLE_CONNECTIONS),
    ...pairLines("fills", "bare POST", fills, ORACLE_CONNECTIONS),
    `  hash and sign: ${signing.ours.toFixed(0)} /s, viem ${signing.viem.toFixed(0)} /s, ratio ${signing.ratio.toFixed(1)}`,
    `  quorum: ${quorum.quorumMs.toFixed(2)} ms; its slowest needed response alone ${quorum.aloneMs.toFixed(2)} ms`,
    ...(rates.some(({ busy }) => busy < BUSY_ENOUGH)
      ? [
          `!!! A server used less than ${BUSY_ENOUGH * 100} % of its core, so rates vary. CPU time per response is more reliable.`,
        ]
      : []),
  ];
}
