import { setTimeout as sleep } from "node:timers/promises";
import { scanChain } from "./chain-scan.ts";
import { checkFills } from "./check-fills.ts";
import { checkMoney } from "./check-money.ts";
import { checkRequests } from "./check-requests.ts";
import type { FillTiming, SoakDatabase } from "./database.ts";
import { readPayment, type SolverPayment } from "./fills.ts";
import type { RequestRun } from "./run-request.ts";
import type { SoakChain, World } from "./world.ts";

/** What the chains, the tables and the API report about a finished run. */
export interface Verdict {
  /** Empty if everything is correct. Each names the request, account or row that is wrong. */
  readonly problems: readonly string[];
  readonly remarks: readonly string[];
  readonly timings: readonly FillTiming[];
  readonly payments: readonly SolverPayment[];
}

/** Waits until nothing can change anymore, then checks everything. */
export async function verify(
  world: World,
  runs: readonly RequestRun[],
  database: SoakDatabase,
  settleWithinMs: number,
): Promise<Verdict> {
  const requestIds = runs.flatMap(({ quote }) => (quote === undefined ? [] : [quote.requestId]));
  await untilSettled(database, requestIds, settleWithinMs);
  const perChain = await Promise.all(
    world.chains.map(async (chain) => await examine(world, chain, runs, database)),
  );
  const payments = perChain.flatMap((chainResult) => chainResult.payments);
  const problems = [
    ...(await checkRequests(world, runs, payments)),
    ...perChain.flatMap((chainResult) => chainResult.problems),
    ...(await database.leftovers(requestIds)),
  ];
  return {
    problems,
    remarks: [...perChain.map((chainResult) => chainResult.remark), ...(await database.remarks(requestIds))],
    timings: await database.fillTimings(),
    payments,
  };
}

async function untilSettled(
  database: SoakDatabase,
  requestIds: readonly string[],
  withinMs: number,
): Promise<void> {
  const giveUpAtMs = Date.now() + withinMs;
  while (Date.now() < giveUpAtMs) {
    const unsettled = await database.unsettled(requestIds);
    const leftovers = await database.leftovers(requestIds);
    if (unsettled.size === 0 && leftovers.length === 0) return;
    await sleep(500);
  }
}

async function examine(
  world: World,
  chain: SoakChain,
  runs: readonly RequestRun[],
  database: SoakDatabase,
): Promise<{ problems: string[]; payments: SolverPayment[]; remark: string }> {
  const lastBlock = await chain.client.getBlockNumber({ cacheTime: 0 });
  const transactions = await scanChain(chain.client, chain.startBlock, lastBlock);
  const solver = world.system.solver.address.toLowerCase();
  const payments = transactions.filter(({ from }) => from.toLowerCase() === solver).map(readPayment);
  const facts = { runs, transactions, payments, lastBlock };
  const money = await checkMoney(world, chain, facts);
  const fills = await checkFills(world, chain, { ...facts, database });
  const remark = `${chain.chain.name}: blocks ${chain.startBlock + 1n} to ${lastBlock}, ${transactions.length} transactions, ${payments.length} of the solver, ${money.accounts} accounts compared`;
  return { problems: [...money.problems, ...fills], payments, remark };
}
