import { setTimeout as sleep } from "node:timers/promises";
import { transactionsOf } from "@causeway/wire";
import type { QuoteAnswer, StatusAnswer } from "@causeway/wire";
import { getAddress, type Address, type Hex, type PrivateKeyAccount } from "viem";
import type { KeptTransaction } from "./kept-transactions.ts";
import type { RequestPlan } from "./mix.ts";
import { freshRecipient, type SoakChain, type World } from "./world.ts";

/** One request and its progress. */
export interface RequestRun {
  readonly plan: RequestPlan;
  readonly user: PrivateKeyAccount;
  readonly recipient: Address;
  quote?: QuoteAnswer;
  quoteMs?: number;
  /** The transaction that pays: the deposit, or the direct payment. */
  payment?: KeptTransaction;
  /** When the client saw the final status, ms since epoch. */
  finalStatusAtMs?: number;
  last?: StatusAnswer;
  /** Why the client could not continue. */
  error?: string;
}

export function newRun(world: World, plan: RequestPlan): RequestRun {
  const user = world.users[plan.user];
  const other = world.users[(plan.user + 1) % world.users.length];
  if (user === undefined || other === undefined) throw new RangeError(`there is no user ${plan.user}`);
  const recipients = {
    self: user.address,
    other: other.address,
    fresh: freshRecipient(world.seed, plan.index),
  };
  return { plan, user, recipient: recipients[plan.receiver] };
}

/**
 * Runs a request from the quote to its final status, as a client does. Never throws: a failure is in `error`.
 */
export async function runRequest(world: World, run: RequestRun, deadline: AbortSignal): Promise<void> {
  try {
    await requestQuote(world, run);
    await pay(world, run, deadline);
    await report(world, run);
    await followStatus(world, run, deadline);
  } catch (error) {
    run.error = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}

export async function requestQuote(world: World, run: RequestRun): Promise<void> {
  const { plan, user, recipient } = run;
  const { answer, tookMs } = await world.api.quote({
    user: user.address,
    ...(plan.receiver === "self" ? {} : { recipient }),
    originChainId: world.chains[plan.origin].chain.id,
    destinationChainId: world.chains[plan.destination].chain.id,
    originCurrency: plan.pay.address,
    destinationCurrency: plan.receive.address,
    amount: plan.amount.toString(),
    tradeType: plan.tradeType,
    ...(plan.explicitDeposit ? {} : { explicitDeposit: false }),
    // The quote states the solver's payment to the unit; what pools pay a user who swaps directly may differ.
    ...(plan.kind === "swap" ? { forceSolverExecution: true } : {}),
  });
  run.quote = answer;
  run.quoteMs = tookMs;
}

/** Executes the steps, each once the previous one is mined. */
export async function pay(world: World, run: RequestRun, deadline: AbortSignal): Promise<void> {
  const chain = world.chains[run.plan.origin];
  for (const step of run.quote?.steps ?? []) {
    for (const data of transactionsOf([step])) {
      if (data.chainId !== chain.chain.id) throw new Error(`step ${step.id} is on chain ${data.chainId}`);
      const call = {
        to: getAddress(data.to),
        data: data.data as Hex,
        value: BigInt(data.value),
        maxFeePerGas: BigInt(data.maxFeePerGas ?? 0),
        maxPriorityFeePerGas: BigInt(data.maxPriorityFeePerGas ?? 0),
      };
      const gas =
        data.gas === undefined ? await estimate(chain, run.user.address, call, deadline) : BigInt(data.gas);
      const sent = await chain.kept.send(run.user, { ...call, gas });
      if (step.id !== "approve") run.payment = sent;
      const receipt = await chain.kept.untilMined(sent, deadline);
      if (receipt.status !== "success") throw new Error(`step ${step.id}: ${sent.hash} reverted`);
    }
  }
  if (run.payment === undefined) throw new Error("quote has no payment step");
}

/** A reorg may have temporarily orphaned the approval, so a refused estimate is retried. */
async function estimate(
  { client }: SoakChain,
  account: Address,
  call: { to: Address; data: Hex; value: bigint },
  deadline: AbortSignal,
): Promise<bigint> {
  for (let tries = 1; ; tries++) {
    try {
      return ((await client.estimateGas({ account, ...call })) * 3n) / 2n;
    } catch (error) {
      if (tries === 40 || deadline.aborted) throw error;
      await sleep(250);
    }
  }
}

/** Reports transactions as clients do: every direct payment, and the deposits of plans with `reports`. */
async function report(world: World, { plan, quote, payment }: RequestRun): Promise<void> {
  if (quote === undefined || payment === undefined) return;
  const chainId = String(world.chains[plan.origin].chain.id);
  const { requestId } = quote;
  // A direct payment makes no deposit, so the service learns of it only from this report.
  if (quote.steps.at(-1)?.id !== "deposit") {
    const tx = JSON.stringify({ txHash: payment.hash });
    return await world.api.singleTransaction({ tx, chainId, requestId });
  }
  if (plan.reports) await world.api.indexTransaction({ txHash: payment.hash, chainId, requestId });
}

const FINAL_STATUSES: readonly string[] = ["success", "failure", "refund"];

/** Polls at the intervals that the answers recommend, until the status is final. */
export async function followStatus(world: World, run: RequestRun, deadline: AbortSignal): Promise<void> {
  if (run.quote === undefined) return;
  for (;;) {
    run.last = await world.api.status(run.quote.requestId);
    if (FINAL_STATUSES.includes(run.last.status)) {
      run.finalStatusAtMs = Date.now();
      return;
    }
    if (deadline.aborted) throw new Error(`still ${run.last.status}: ${run.last.nextAction}`);
    await sleep(Math.min(Math.max(run.last.pollAfterMs, 200), 1_000));
  }
}
