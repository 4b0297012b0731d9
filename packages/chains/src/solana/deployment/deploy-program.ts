import { bytesOf } from "@causeway/domain";
import { RpcFault } from "@causeway/families";
import { getBase58Decoder } from "@solana/kit";
import { setTimeout as sleep } from "node:timers/promises";
import { computeInstructions } from "../payment-instructions.ts";
import { readPayment, signPayment, type Payer } from "../sign-payment.ts";
import type { ProgramChain } from "./program-chain.ts";
import type { ProgramPlan } from "./program-plan.ts";
import { isComplete, readProgramState } from "./program-state.ts";
import { readRents, remainingSteps, type ProgramStep } from "./program-steps.ts";

export interface DeployProgramOptions {
  readonly payer: Payer;
  /** Price of a compute unit, in millionths of a lamport. */
  readonly price: bigint;
  /** Timeout for everything, in milliseconds. */
  readonly waitMs: number;
  readonly nowMs: () => number;
  /** Called before each new transaction is broadcast. */
  readonly onBroadcast: (step: ProgramStep, signature: string) => void;
}

/** The time limit was reached before everything was deployed and final. Run it again to continue. */
export class ProgramUnfinished extends Error {
  override readonly name = "ProgramUnfinished";
}

/** The node refused a transaction, or the chain has something that a deployment cannot resolve. */
export class ProgramRefused extends Error {
  override readonly name = "ProgramRefused";
}

interface Broadcast {
  readonly transaction: Uint8Array;
  readonly lastHeight: bigint;
  readonly sentAtMs: number;
}

/** Milliseconds until the same bytes are broadcast again: a leader may have dropped them. */
const RESEND_MS = 2_000;
/** Milliseconds between rounds: doubled from the first to the second as long as nothing new is sent. */
const POLL_MS = { min: 300, max: 2_000 } as const;
/** Consecutive refusals before giving up: a lagging backend may lack the latest block. */
const MAX_REFUSALS = 10;

/**
 * Sends the missing transactions of a plan, and returns once all are final on every endpoint. It reads from
 * the chain what exists, so it can be killed and run again at any time. Faults of endpoints are retried.
 *
 * @throws ProgramUnfinished if the time is up; ProgramRefused; RpcFault if a retry cannot succeed
 */
export async function deployProgram(
  chain: ProgramChain,
  plan: ProgramPlan,
  options: DeployProgramOptions,
): Promise<void> {
  const { waitMs, nowMs } = options;
  const endMs = nowMs() + waitMs;
  const sent = new Map<string, Broadcast>();
  let refusals = 0;
  let pollMs: number = POLL_MS.min;
  for (;;) {
    const round = await retryOnFault(async () => await advance(chain, plan, sent, options));
    if (round.waitsFor === undefined) return;
    const { waitsFor, refused, differences = [], hasSent = false } = round;
    refusals = refused === undefined ? 0 : refusals + 1;
    if (refused !== undefined && refusals >= MAX_REFUSALS) throw new ProgramRefused(refused);
    if (nowMs() >= endMs) {
      if (differences.length > 0) throw new ProgramRefused(differences.join("\n"));
      throw new ProgramUnfinished(`${plan.program}: ${waitsFor}. Run the command again to continue`);
    }
    pollMs = hasSent ? POLL_MS.min : Math.min(2 * pollMs, POLL_MS.max);
    await sleep(Math.min(pollMs, Math.max(endMs - nowMs(), 0)));
  }
}

interface Round {
  /** Undefined: everything is deployed and final. */
  readonly waitsFor: string | undefined;
  readonly hasSent?: boolean;
  /** Why the node refused a transaction. */
  readonly refused?: string | undefined;
  /** Differences between the plan and the endpoints' finalized state. An endpoint may only lag. */
  readonly differences?: readonly string[];
}

/** A fault proves nothing about the chain, so the next round tries again. */
async function retryOnFault(attempt: () => Promise<Round>): Promise<Round> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof RpcFault) || !error.retryable) throw error;
    return { waitsFor: `an endpoint failed (${error.message})` };
  }
}

async function advance(
  chain: ProgramChain,
  plan: ProgramPlan,
  sent: Map<string, Broadcast>,
  options: DeployProgramOptions,
): Promise<Round> {
  const [state, rents] = await Promise.all([
    readProgramState(chain.reads, plan, "confirmed"),
    readRents(chain.reads, plan),
  ]);
  if (state.problems.length > 0) throw new ProgramRefused(state.problems.join("\n"));
  const [nextSteps = []] = remainingSteps(plan, state, rents);
  if (nextSteps.length === 0) return await checkFinality(chain, plan);
  const { hasSent, refused } = await broadcast(chain, nextSteps, sent, options);
  return { waitsFor: `waiting for: ${nextSteps[0]?.label ?? ""}`, hasSent, refused };
}

async function checkFinality({ allReads, hosts }: ProgramChain, plan: ProgramPlan): Promise<Round> {
  const states = await Promise.all(
    allReads.map(async (reads) => await readProgramState(reads, plan, "finalized")),
  );
  if (states.every((state) => isComplete(plan, state))) return { waitsFor: undefined };
  return {
    waitsFor: "not final on every endpoint yet",
    differences: states.flatMap(({ problems }, index) =>
      problems.map((problem) => `${hosts[index] ?? ""}: ${problem}`),
    ),
  };
}

/** Sends the transactions of these steps that are not pending yet, until the node refuses one. */
async function broadcast(
  { reads }: ProgramChain,
  nextSteps: readonly ProgramStep[],
  sent: Map<string, Broadcast>,
  { payer, price, nowMs, onBroadcast }: DeployProgramOptions,
): Promise<{ readonly hasSent: boolean; readonly refused?: string }> {
  const toSend = nextSteps.filter(({ label }) => {
    const previous = sent.get(label);
    return previous === undefined || nowMs() - previous.sentAtMs >= RESEND_MS;
  });
  if (toSend.length === 0) return { hasSent: false };
  const [lifetime, final] = await Promise.all([reads.lifetime(), reads.finalHeight()]);
  for (const step of toSend) {
    const previous = sent.get(step.label);
    let { transaction, lastHeight } = previous ?? { transaction: new Uint8Array(), lastHeight: 0n };
    if (previous === undefined || final.height > lastHeight) {
      const instructions = [...computeInstructions(step.units, price), ...step.instructions];
      const signed = await signPayment(payer, instructions, lifetime);
      ({ transaction, lastHeight } = readPayment(signed.raw));
      onBroadcast(step, getBase58Decoder().decode(bytesOf(signed.txId)));
    }
    // After a fault, the next round sends the same bytes: if the node got them, they pay only once.
    sent.set(step.label, { transaction, lastHeight, sentAtMs: nowMs() - RESEND_MS });
    const outcome = await reads.send(transaction);
    if (outcome === "sent") sent.set(step.label, { transaction, lastHeight, sentAtMs: nowMs() });
    else {
      sent.delete(step.label);
      const refused = `the node refused the transaction "${step.label}": ${outcome.refused}`;
      return { hasSent: false, refused };
    }
  }
  return { hasSent: true };
}
