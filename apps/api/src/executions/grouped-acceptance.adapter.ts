import type { Address } from "@causeway/domain";
import type { ExecuteAnswer } from "@causeway/wire";
import { tickBatcher } from "../db/tick-batcher.ts";
import { acceptExecution, insufficient } from "./accept-execution.ts";
import type { AcceptableExecution, AcceptServices } from "./accept-execution.ts";
import { acceptTogether, isPlain } from "./accept-together.ts";
import type { AcceptOutcome, PlainExecution } from "./accept-together.ts";
import { acceptedAnswer } from "./accepted-answer.ts";

/**
 * One commit per wallet at a time, because each commit locks the wallet's row. Later calls join the next
 * commit.
 */
const BATCHES = { inFlight: 1, maxBatch: 50 };

/**
 * Accepts executions. Simultaneous plain calls of one wallet share a commit; every other call has a commit of
 * its own. A single call does not wait for others. If a shared commit fails, each of its calls is retried
 * alone, so that one call cannot fail another.
 */
export function groupedAcceptance(
  services: AcceptServices,
): (acceptable: AcceptableExecution) => Promise<ExecuteAnswer> {
  const groups = new Map<Address, (call: PlainExecution) => Promise<AcceptOutcome>>();
  const groupOf = (wallet: Address): ((call: PlainExecution) => Promise<AcceptOutcome>) => {
    const existing = groups.get(wallet);
    if (existing !== undefined) return existing;
    const group = tickBatcher(
      (calls: readonly PlainExecution[]) => acceptTogether(services, wallet, calls),
      BATCHES,
    );
    groups.set(wallet, group);
    return group;
  };
  return async (acceptable) => {
    if (!isPlain(acceptable)) return await acceptExecution(services, acceptable);
    const { wallet, requestId } = acceptable;
    let outcome: AcceptOutcome;
    try {
      outcome = await groupOf(wallet)(acceptable);
    } catch {
      // The failed commit stored either none of its calls or all. If it stored them, this attempt fails,
      // because the request id exists.
      return await acceptExecution(services, acceptable);
    }
    if (outcome.kind === "insufficient") throw insufficient(wallet, outcome);
    return acceptedAnswer(requestId);
  };
}
