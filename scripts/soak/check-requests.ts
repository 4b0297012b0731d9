import type { SolverPayment } from "./fills.ts";
import type { RequestRun } from "./run-request.ts";
import type { World } from "./world.ts";

/** The name of a request in the output: enough to find it in logs and tables. */
export function label({ plan, quote }: RequestRun): string {
  const where = `${plan.kind} ${plan.pay.symbol} of chain ${plan.origin} to ${plan.receive.symbol} of chain ${plan.destination}`;
  return `request ${plan.index} ${quote?.requestId ?? "(no quote)"} (${where}, ${plan.tradeType})`;
}

/** Checks the final answer of the API about each request, and whether the recipient got the quoted amount. */
export async function checkRequests(
  world: World,
  runs: readonly RequestRun[],
  payments: readonly SolverPayment[],
): Promise<string[]> {
  const byOrder = new Map(
    payments.map((payment) => [`${payment.transaction.chainId} ${payment.orderId}`, payment]),
  );
  const problemLists = await Promise.all(
    runs.map(async (run) => {
      const problems = await problemsOf(world, run, byOrder);
      return problems.map((problem) => `${label(run)}: ${problem}`);
    }),
  );
  return problemLists.flat();
}

async function problemsOf(
  world: World,
  run: RequestRun,
  byOrder: ReadonlyMap<string, SolverPayment>,
): Promise<string[]> {
  const { plan, quote, payment, error } = run;
  if (quote === undefined || payment === undefined || error !== undefined) return [error ?? "was never paid"];
  const problems: string[] = [];
  const expect = (what: string, actual: unknown, expected: unknown): void => {
    if (JSON.stringify(actual) !== JSON.stringify(expected))
      problems.push(`${what} is ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
  };
  const status = await world.api.status(quote.requestId);
  expect("status", status.status, "success");
  expect("final", status.final, true);
  expect("fundsAt", status.fundsAt, "recipient");
  expect("failReason", status.failReason, "N/A");
  expect("inTxHashes", status.inTxHashes, [payment.hash]);
  expect("refundTxHashes", status.refundTxHashes, []);
  if (plan.kind === "send") {
    expect("txHashes", status.txHashes, [payment.hash]);
    return problems;
  }
  const fill = byOrder.get(`${world.chains[plan.destination].chain.id} ${quote.protocol.v2.orderId}`);
  if (fill === undefined) return [...problems, "chain has no fill of its order"];
  expect("txHashes", status.txHashes, [fill.transaction.hash]);
  expect("currency of the fill", fill.currency.toLowerCase(), plan.receive.address.toLowerCase());
  expect("recipient of the fill", fill.recipient.toLowerCase(), run.recipient.toLowerCase());
  const minimum = BigInt(quote.details.currencyOut.minimumAmount);
  if (fill.amount < minimum) problems.push(`received ${fill.amount}, less than the guaranteed ${minimum}`);
  return problems;
}
