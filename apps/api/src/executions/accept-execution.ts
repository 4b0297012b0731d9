import type { Address, RequestId, ServiceError, SponsorshipQuestion } from "@causeway/domain";
import { decide, formatUsd, judgeSponsorship, quotedState } from "@causeway/domain";
import type { ExecuteAnswer } from "@causeway/wire";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";
import type { AcceptedCall, DestinationExecution, NewExecution } from "../payments/executions.port.ts";
import type { IdempotencyLease } from "../http/idempotency.port.ts";
import type { Random } from "../db/random.port.ts";
import type { RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { reserveFees, type Shortfall } from "../balances/index.ts";
import { executeJob, transition } from "../requests/index.ts";
import { acceptedAnswer } from "./accepted-answer.ts";
import {
  acceptsExecution,
  callTerms,
  countSale,
  type ParsedExecution,
  refusal,
  type ValueSale,
} from "../payments/index.ts";
import { findQuoted } from "./find-quoted.ts";
import { utcDay } from "../db/utc-day.ts";

export interface AcceptServices extends Pick<
  Services,
  | "appBalance"
  | "chains"
  | "clock"
  | "events"
  | "prices"
  | "quotePolicy"
  | "enginePolicy"
  | "reads"
  | "signer"
  | "uow"
> {
  readonly random: Random;
}

/** An execution that passed its simulation, and its maximum cost. */
export interface AcceptableExecution {
  readonly caller: ApiKeyIdentity;
  readonly question: ParsedExecution;
  readonly requestId: RequestId;
  /** The request whose deposit the call makes. Undefined: a call without a quote. */
  readonly quotedRequest: RequestRecord | undefined;
  /**
   * The wallet from whose balance the maximum cost is reserved, even if the quoted output pays in the end.
   */
  readonly payer: Address;
  /** The wallet that pays. Undefined: the quoted output pays. */
  readonly wallet: Address | undefined;
  readonly referrer: string;
  readonly sponsorship: SponsorshipQuestion;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  /** USD per whole native token, 18 decimals. */
  readonly nativePriceUsd: bigint;
  readonly flatUsd: bigint;
  /**
   * The price, including fees, of the native tokens that the call carries: USD per whole token, 18 decimals.
   * Undefined: the call carries none.
   */
  readonly salePriceUsd: bigint | undefined;
  /** The native tokens that this call and the calls of the fill carry. Undefined: none. */
  readonly sale: ValueSale | undefined;
  readonly destination: DestinationExecution | undefined;
  readonly lease: IdempotencyLease | undefined;
}

/** The quote was executed, paid or closed concurrently. */
class QuoteNotOpen extends Error {
  constructor(requestId: RequestId) {
    super(`quote ${requestId} was executed, paid or closed meanwhile`);
    this.name = "QuoteNotOpen";
  }
}

/**
 * Commits the request, the execution, its job, the budgets, the reserved balance and the answer for repeated
 * calls together. Reserves the balance late, because all calls of an app share its lock, and counts the
 * exposure of a sale last, because all apps share it.
 * @throws ServiceError INSUFFICIENT_FUNDS, INVALID_REQUEST (a budget is exceeded, or the quote is no longer
 * open), PRICE_FETCH_FAILED; LeaseLost
 */
export async function acceptExecution(
  services: AcceptServices,
  acceptable: AcceptableExecution,
): Promise<ExecuteAnswer> {
  const { requestId, question, caller } = acceptable;
  const answer = acceptedAnswer(requestId);
  try {
    await services.uow.run(async (tx) => {
      await storeExecution(services, tx, acceptable);
      await enforceBudgets(services, tx, acceptable);
      if (acceptable.lease !== undefined)
        await tx.idempotency.finish(acceptable.lease, { status: 200, body: JSON.stringify(answer) });
      await reserve(services, tx, acceptable);
    });
  } catch (error) {
    if (!(error instanceof QuoteNotOpen)) throw error;
    // The same call may have arrived twice concurrently: if the other one was accepted, both get the same
    // answer.
    const quoted = await findQuoted(services, caller, requestId, question);
    if (quoted.kind === "alreadyAccepted") return answer;
    throw refusal(`Request ${requestId} is already being executed by another call`);
  }
  reportAccepted(services, acceptable);
  return answer;
}

export function reportAccepted(
  { events }: Pick<Services, "events">,
  { requestId, question, caller, sponsorship }: AcceptableExecution,
): void {
  events.happened("execution_accepted", {
    requestId,
    chain: question.origin.chain.name,
    keyId: caller.id,
    costUsd: formatUsd(sponsorship.costUsd),
  });
}

async function storeExecution(
  services: AcceptServices,
  tx: Tx,
  acceptable: AcceptableExecution,
): Promise<void> {
  const { caller, requestId, quotedRequest, sponsorship } = acceptable;
  const nowMs = services.clock.nowMs();
  const facts = { keyId: caller.id, costUsd: formatUsd(sponsorship.costUsd) };
  if (quotedRequest === undefined) await insertCall(services, tx, acceptable, nowMs);
  else {
    const current = await tx.requests.lock(requestId);
    const hasDestinationCalls = acceptable.question.destination !== undefined;
    if (
      current === undefined ||
      current.supersededBy !== undefined ||
      !acceptsExecution(current.state, hasDestinationCalls)
    )
      throw new QuoteNotOpen(requestId);
    await transition(services, tx, current, { kind: "executionAccepted" }, {}, facts);
  }
  const added = await tx.executions.add(newExecution(acceptable, nowMs));
  if (!added) throw new QuoteNotOpen(requestId);
  await tx.outbox.add([executeJob(requestId, nowMs)], nowMs);
}

async function insertCall(
  services: AcceptServices,
  tx: Tx,
  acceptable: AcceptableExecution,
  nowMs: number,
): Promise<void> {
  const { terms, state, event, detail } = newCall(services, acceptable, nowMs);
  await tx.requests.insert(terms, state);
  await tx.requests.note(acceptable.requestId, nowMs, event, detail);
}

/** The first stored state of a call without a quote. */
export function newCall(
  services: Pick<AcceptServices, "quotePolicy" | "random" | "signer">,
  { question, requestId, referrer, caller, sponsorship }: AcceptableExecution,
  nowMs: number,
): Pick<AcceptedCall, "terms" | "state" | "event" | "detail"> {
  const terms = callTerms({
    requestId,
    salt: services.random.bytes32(),
    chain: question.origin.chain,
    solver: services.signer.address,
    solverChainName: services.quotePolicy.solverChainName,
    call: question.call,
    user: question.user,
    referrer,
    nowMs,
  });
  const decision = decide(quotedState("call"), { kind: "executionAccepted" });
  if (decision.kind !== "applied")
    throw new Error("invariant violated: executionAccepted was not applied to a new call");
  const detail: AcceptedCall["detail"] = {
    from: "quoted",
    to: decision.next.name,
    keyId: caller.id,
    costUsd: formatUsd(sponsorship.costUsd),
  };
  return { terms, state: decision.next, event: "executionAccepted", detail };
}

export function newExecution(acceptable: AcceptableExecution, nowMs: number): NewExecution {
  const { question, sponsorship } = acceptable;
  return {
    requestId: acceptable.requestId,
    keyId: acceptable.caller.id,
    wallet: acceptable.wallet,
    bodyHash: question.hash,
    chainId: question.origin.chain.id,
    call: question.call,
    gasLimit: acceptable.gasLimit,
    maxFeePerGas: acceptable.maxFeePerGas,
    nativePriceUsd: acceptable.nativePriceUsd,
    salePriceUsd: acceptable.salePriceUsd,
    flatUsd: acceptable.flatUsd,
    destination: acceptable.destination,
    user: question.user,
    target: question.call.to,
    day: utcDay(nowMs),
    costUsd: sponsorship.costUsd,
    createdAtMs: nowMs,
  };
}

export function hasBudgets({ rules }: ApiKeyIdentity): boolean {
  const { dailyUsd, perUserDailyUsd, perTargetDailyUsd } = rules;
  return [dailyUsd, perUserDailyUsd, perTargetDailyUsd].some((budget) => budget !== undefined);
}

/** Daily budgets are counted under the key's lock, so that concurrent calls cannot exceed them together. */
async function enforceBudgets(
  services: Pick<Services, "clock">,
  tx: Pick<Tx, "executions">,
  { caller, question, requestId, sponsorship }: AcceptableExecution,
): Promise<void> {
  if (!hasBudgets(caller)) return;
  const budget = {
    keyId: caller.id,
    day: utcDay(services.clock.nowMs()),
    user: question.user,
    target: question.call.to,
  };
  const refused = judgeSponsorship(
    caller.rules,
    sponsorship,
    await tx.executions.lockSpending(budget, requestId),
  );
  if (refused !== undefined) throw refusal(`Not sponsored (${refused.rule}): ${refused.message}`);
}

async function reserve(
  services: AcceptServices,
  tx: Tx,
  { payer, requestId, sponsorship, sale }: AcceptableExecution,
): Promise<void> {
  const { costUsd, valueUsd } = sponsorship;
  const reserved = await reserveFees(services, tx, {
    wallet: payer,
    usd: costUsd,
    transferredUsd: valueUsd,
    requestId,
    movementKey: reserveKey(requestId),
  });
  if (reserved.kind === "insufficient") throw insufficient(payer, reserved);
  if (reserved.kind === "closed") throw new QuoteNotOpen(requestId);
  // Last, so that a refused call is not counted.
  if (sale !== undefined) await countSale(services, tx, sale, reserved.reservation.parts);
}

/** The key of the ledger movement that reserves a request's fees: there is one per request. */
export function reserveKey(requestId: RequestId): string {
  return `execution:${requestId}:reserve`;
}

export function insufficient(
  wallet: Address,
  { availableUsd, requiredUsd, missing }: Omit<Shortfall, "kind">,
): ServiceError {
  return refusal(
    missing === "unheld"
      ? `The app balance of ${wallet} has $${formatUsd(availableUsd)} that is not held for fast fills, but this execution transfers $${formatUsd(requiredUsd)}`
      : `The app balance of ${wallet} has $${formatUsd(availableUsd)} available, but this execution may cost $${formatUsd(requiredUsd)}, which must be covered in full`,
    "INSUFFICIENT_FUNDS",
  );
}
