import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { anvilNodes } from "../../sequences/anvil-nodes.ts";
import { checkSequences, failureText } from "../../sequences/check-sequences.ts";
import { openHome } from "../../sequences/home.ts";
import { memoryNodes } from "../../sequences/memory-nodes.ts";
import { tally } from "../../sequences/run-sequence.ts";
import type { SequenceNodes } from "../../sequences/sequence-chain.ts";
import { START_MS } from "../../sequences/world.ts";

/**
 * Runs a few sequences. `npm run sequences` runs thousands, also with other seeds, which find other failures.
 */
const SEED = 20_261_122;
const RUNS = 60;
const TIME_LIMIT_MS = 25_000;

/** On real nodes, a sequence takes several times as long. */
const REAL_SEED = 308;
const REAL_RUNS = 4;
const REAL_TIME_LIMIT_MS = 15_000;

type Home = Awaited<ReturnType<typeof openHome>>;
let home: Home;
let realHome: Home;

beforeAll(async () => {
  const template = inject("templateDatabase");
  const open = async (nodes: SequenceNodes): Promise<Home> =>
    await openHome(inject("databaseUrl"), template, `${template}_sequences_${nodes.kind}`, nodes);
  home = await open(memoryNodes());
  realHome = await open(await anvilNodes(START_MS));
});

afterAll(async () => {
  await home.close();
  await realHome.close();
});

test("never loses more than its bounds and reports a true status after any sequence of events", async () => {
  const { failure, runs } = await checkSequences(home, {
    runs: RUNS,
    seed: SEED,
    timeLimitMs: TIME_LIMIT_MS,
  });
  expect(failure && failureText(failure)).toBeUndefined();
  expect(runs).toBeGreaterThan(10);
  // Each kind of action succeeded at least once; otherwise the sequences would prove little.
  for (const kind of ["quote", "pay", "blocks", "reorg", "price", "topUp", "fastFill", "claim"])
    expect(tally.get(`${kind} done`) ?? 0, kind).toBeGreaterThan(0);
}, 120_000);

test("never loses more than its bounds with the real contracts on two real nodes", async () => {
  const before = new Map(tally);
  const { failure, runs } = await checkSequences(realHome, {
    runs: REAL_RUNS,
    seed: REAL_SEED,
    timeLimitMs: REAL_TIME_LIMIT_MS,
  });
  expect(failure && failureText(failure)).toBeUndefined();
  expect(runs).toBeGreaterThan(0);
  for (const kind of ["quote", "pay"])
    expect(tally.get(`${kind} done`) ?? 0, kind).toBeGreaterThan(before.get(`${kind} done`) ?? 0);
}, 60_000);
