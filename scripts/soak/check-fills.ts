import type { SoakDatabase } from "./database.ts";
import type { SolverPayment } from "./fills.ts";
import { label } from "./check-requests.ts";
import type { RequestRun } from "./run-request.ts";
import type { SoakChain, World } from "./world.ts";

/**
 * Checks that every bridged order was paid by exactly one transaction, nothing else was paid, and the lane
 * has no gap.
 */
export async function checkFills(
  world: World,
  chain: SoakChain,
  facts: {
    readonly runs: readonly RequestRun[];
    readonly payments: readonly SolverPayment[];
    readonly lastBlock: bigint;
    readonly database: SoakDatabase;
  },
): Promise<string[]> {
  const { runs, payments, lastBlock, database } = facts;
  const expectedFills = new Map(
    runs
      .filter(({ plan }) => plan.kind !== "send" && world.chains[plan.destination] === chain)
      .flatMap((run) => (run.quote === undefined ? [] : [[run.quote.protocol.v2.orderId, run] as const])),
  );
  const name = chain.chain.name;
  const problems: string[] = [];
  const paidBy = new Map<string, SolverPayment[]>();
  for (const payment of payments) {
    const { orderId, transaction } = payment;
    const what = `${name}: transaction ${transaction.hash} of the solver (nonce ${transaction.nonce})`;
    if (!transaction.succeeded) problems.push(`${what} reverted`);
    else if (orderId === undefined || !expectedFills.has(orderId))
      problems.push(`${what} pays no order on this chain: ${orderId ?? "no id"}`);
    else paidBy.set(orderId, [...(paidBy.get(orderId) ?? []), payment]);
  }
  for (const [orderId, run] of expectedFills) {
    const times = paidBy.get(orderId)?.length ?? 0;
    if (times !== 1) problems.push(`${label(run)}: order ${orderId} was filled ${times} times`);
  }
  const nonces = payments.map(({ transaction }) => transaction.nonce);
  const gap = nonces.findIndex((nonce, index) => nonce !== chain.solverStartNonce + index);
  if (gap !== -1) problems.push(`${name}: nonce is ${nonces[gap]}, expected ${chain.solverStartNonce + gap}`);

  const lane = (await database.lanes(world.system.solver.address)).find(
    ({ chainId }) => chainId === chain.chain.id,
  );
  const onChain = await chain.client.getTransactionCount({
    address: world.system.solver.address,
    blockNumber: lastBlock,
  });
  if (lane === undefined) return [...problems, `${name}: the database has no lane`];
  if (lane.nextNonce !== onChain)
    problems.push(`${name}: next nonce of the lane is ${lane.nextNonce}, on chain ${onChain}`);
  if (lane.minedAttempts !== payments.length)
    problems.push(
      `${name}: the tables have ${lane.minedAttempts} mined attempts, the chain has ${payments.length} solver transactions`,
    );
  const recordedHashes = await database.minedAttemptHashes();
  for (const { transaction } of payments)
    if (!recordedHashes.has(transaction.hash))
      problems.push(`${name}: no slot records ${transaction.hash} as mined`);
  return problems;
}
