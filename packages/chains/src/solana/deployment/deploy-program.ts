import { bytesOf } from "@causeway/domain";
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
  /** Of a compute unit, in millionths of a lamport. */
  readonly price: bigint;
  /** Timeout for everything, in milliseconds. */
  readonly waitMs: number;
  readonly nowMs: () => number;
  readonly pollMs?: number;
  /** Called before each new transaction is broadcast. */
  readonly onBroadcast: (step: ProgramStep, signature: string) => void;
}

/** The time was up before everything was deployed and final. Run it again to continue. */
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
/** Refusals in sequence before giving up: another backend of the node may not have the last block yet. */
const MAX_REFUSALS = 10;

/**
 * Sends what is missing of a plan, and returns once all of it is final on every endpoint. It reads from the
 * chain what exists, so it can be killed and run again at any time.
 *
 * @throws ProgramUnfinished if the time is up, ProgramRefused, RpcFault
 */
export async function deployProgram(
  chain: ProgramChain,
  plan: ProgramPlan,
  options: DeployProgramOptions,
): Promise<void> {
  const { waitMs, nowMs, pollMs = 300 } = options;
  const endMs = nowMs() + waitMs;
  const rents = await readRents(chain.reads, plan);
  const sent = new Map<string, Broadcast>();
  let refusals = 0;
  for (;;) {
    const state = await readProgramState(chain.reads, plan, "confirmed");
    if (state.problems.length > 0) throw new ProgramRefused(state.problems.join("\n"));
    const [due = []] = remainingSteps(plan, state, rents);
    if (due.length === 0 && (await isFinal(chain, plan))) return;
    const refused = await broadcast(chain, due, sent, options);
    refusals = refused === undefined ? 0 : refusals + 1;
    if (refused !== undefined && refusals >= MAX_REFUSALS) throw new ProgramRefused(refused);
    if (nowMs() >= endMs) {
      const what =
        due.length === 0 ? "not final on every endpoint yet" : `waiting for: ${due[0]?.label ?? ""}`;
      throw new ProgramUnfinished(`${plan.accounts.program}: ${what}. Run the command again to continue`);
    }
    await sleep(pollMs);
  }
}

async function isFinal({ all }: ProgramChain, plan: ProgramPlan): Promise<boolean> {
  const states = await Promise.all(all.map((reads) => readProgramState(reads, plan, "finalized")));
  return states.every((state) => isComplete(plan, state));
}

/** Sends what is due and not already on its way. Returns why the node refused a transaction, if it did. */
async function broadcast(
  { reads }: ProgramChain,
  due: readonly ProgramStep[],
  sent: Map<string, Broadcast>,
  { payer, price, nowMs, onBroadcast }: DeployProgramOptions,
): Promise<string | undefined> {
  const waiting = due.filter(({ label }) => {
    const before = sent.get(label);
    return before === undefined || nowMs() - before.sentAtMs >= RESEND_MS;
  });
  if (waiting.length === 0) return undefined;
  const [lifetime, final] = await Promise.all([reads.lifetime(), reads.finalHeight()]);
  for (const step of waiting) {
    const before = sent.get(step.label);
    let { transaction, lastHeight } = before ?? { transaction: new Uint8Array(), lastHeight: 0n };
    if (before === undefined || final.height > lastHeight) {
      const instructions = [...computeInstructions(step.units, price), ...step.instructions];
      const signed = await signPayment(payer, instructions, lifetime);
      ({ transaction, lastHeight } = readPayment(signed.raw));
      onBroadcast(step, getBase58Decoder().decode(bytesOf(signed.txId)));
    }
    const outcome = await reads.send(transaction);
    if (outcome === "sent") sent.set(step.label, { transaction, lastHeight, sentAtMs: nowMs() });
    else {
      sent.delete(step.label);
      return `the node refused the transaction "${step.label}": ${outcome.refused}`;
    }
  }
  return undefined;
}
