import { expect, test } from "vitest";
import type { PairRates } from "../rounds.ts";
import { judgeOracle } from "./judge-oracle.ts";
import type { OracleFigures } from "./measure-oracle.ts";

function pairOf(ratio: number): PairRates {
  const rates = { perRound: [100], median: 100, busy: 1, cpuUs: 10, bytesPerAnswer: 10 };
  return { ours: rates, bare: rates, ratioPerRound: [ratio], ratio };
}

const good: OracleFigures = {
  deposits: pairOf(0.25),
  fills: pairOf(0.1),
  signing: { ours: 8, viem: 1, ratio: 8 },
  quorum: { aloneMs: 10, quorumMs: 15, addedMs: 5 },
};

const missed = (figures: OracleFigures): string[] =>
  judgeOracle(figures).flatMap(({ goal, passed }) => (passed ? [] : [goal.split(/[,:]/, 1)[0] ?? ""]));

test("an oracle exactly at the limits passes", () => {
  expect(missed(good)).toEqual([]);
});

test.for<[OracleFigures, string]>([
  [{ ...good, deposits: pairOf(0.24) }, "deposit attestations"],
  [{ ...good, fills: pairOf(0.09) }, "fill attestations"],
  [{ ...good, signing: { ...good.signing, ratio: 7.9 } }, "rate of hashing and signing"],
  [
    { ...good, quorum: { ...good.quorum, addedMs: 5.1 } },
    "latency added by a quorum to its slowest needed response",
  ],
  [{ ...good, fills: pairOf(Number.NaN) }, "fill attestations"],
])("names a missed goal: %$", ([figures, goal]) => {
  expect(missed(figures)).toEqual([goal]);
});
