import type { GasPrices, TraceOutcome } from "@causeway/chains";
import type { Address, PricedUnit, RequestTerms, SponsorshipQuestion } from "@causeway/domain";
import { amountToUsdUp, executionCost, formatUsd, judgeSponsorship, ServiceError } from "@causeway/domain";
import type { ExecuteAnswer, ExecuteInput } from "@causeway/wire";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";
import type { ExecuteOutcome } from "./execute.port.ts";
import type { IdempotencyLease } from "../http/idempotency.port.ts";
import type { Random } from "../db/random.port.ts";
import type { Services } from "../db/services.port.ts";
import { ownAccounts } from "../chains/index.ts";
import { newRequestId } from "../requests/index.ts";
import { acceptExecution } from "./accept-execution.ts";
import type { AcceptableExecution } from "./accept-execution.ts";
import { acceptedAnswer } from "./accepted-answer.ts";
import { judgeSimulatedDeposit } from "./judge-simulated-deposit.ts";
import { findQuoted } from "./find-quoted.ts";
import {
  dataFeeCap,
  type ParsedExecution,
  GAS_HEADROOM_BPS,
  payingCurrencies,
  priceCap,
  priceDestination,
  readExecution,
  refusal,
  refuseOwnContracts,
  refusePaused,
  type KnownPauses,
  salePriceOf,
  type SimulatedExecution,
  simulateExecution,
  sponsoredCall,
  valueOf,
  withHeadroom,
} from "../payments/index.ts";
import { refuseHidden } from "./refuse-hidden-costs.ts";
import { refuseUncovered } from "./refuse-uncovered.ts";

export interface ExecuteServices
  extends
    KnownPauses,
    Pick<
      Services,
      | "appBalance"
      | "chains"
      | "clock"
      | "enginePolicy"
      | "events"
      | "depositAddressOperator"
      | "executor"
      | "prices"
      | "quotePolicy"
      | "reads"
      | "signer"
      | "uow"
    > {
  readonly random: Random;
  /** Accepts a call that passed its simulation. Absent: each call is accepted in a commit of its own. */
  readonly accept?: (acceptable: AcceptableExecution) => Promise<ExecuteAnswer>;
}

/** Deadline for the simulation (ms). */
const SIMULATION_DEADLINE_MS = 5_000;
/**
 * Maximum gas of a call: a third of a 30-million-gas block, which is enough for sponsored calls. Limited,
 * because tracing is expensive for nodes. With headroom, it stays below the gas limit per transaction.
 */
const MAX_GAS = 10_000_000n;
/** Minimum gas of any transaction. */
const MIN_GAS = 21_000n;
const NOTHING_SPENT = { todayUsd: 0n, userTodayUsd: 0n, targetTodayUsd: 0n };

/**
 * Accepts a call for a user: simulates it, applies the key's rules, and reserves its maximum cost in the
 * commit that accepts it. A job sends the call later. If the call has a quote's id, it makes the deposit of
 * the quote, and a repeated call gets the same answer.
 * @throws ServiceError INVALID_REQUEST and others caused by the caller; PRICE_FETCH_FAILED, RPC_HTTP_ERROR,
 * SERVICE_UNAVAILABLE caused by the service; RpcFault; LeaseLost
 */
export async function executeCalls(
  services: ExecuteServices,
  caller: ApiKeyIdentity,
  input: ExecuteInput,
  lease: IdempotencyLease | undefined,
): Promise<ExecuteOutcome> {
  const { executor } = services;
  if (executor === undefined)
    throw refusal("Gasless execution is not enabled on this service", "UNSUPPORTED_EXECUTION_TYPE");
  const question = readExecution(services.chains, input);
  refuseOwnContracts(services, question.origin, question.call, caller.id);
  const quoted = question.requestId && (await findQuoted(services, caller, question.requestId, question));
  const requestId = question.requestId ?? newRequestId(services.random);
  if (quoted?.kind === "alreadyAccepted") return { kind: "accepted", answer: acceptedAnswer(requestId) };
  const terms = quoted?.record.terms;
  const originChainId = question.origin.chain.id;
  refusePaused(services, originChainId, terms?.destination.chainId ?? originChainId);
  const payer = payerOf(caller);
  if (!question.sponsored) refuseUnpayable(question, terms);
  const wallet = question.sponsored ? payer : undefined;

  const { chain, pulse } = question.origin;
  const native = { decimals: chain.native.decimals, priceUsd: await services.prices.usd(chain.native) };
  const baseSponsorship = sponsorshipOf(question, native);
  // Apply the rules that need no simulation first.
  applyRules(caller, baseSponsorship);
  const { value: valueWei } = question.call;
  const hasValue = valueWei > 0n || valueOf(question.destination?.calls ?? []) > 0n;
  const paidIn = hasValue ? await payingCurrencies(services, payer) : [];
  const prices = pulse.gasPrices();
  const signal = AbortSignal.timeout(SIMULATION_DEADLINE_MS);
  const [simulated, destinationPrice, dataFeeWei] = await Promise.all([
    simulateExecution(
      question.origin,
      {
        from: executor.address,
        call: question.call,
        fees: prices,
        ours: ownAccounts(services),
      },
      {
        signal,
        maxGas: MAX_GAS,
        roomBps: GAS_HEADROOM_BPS,
        senderBalanceWei: pulse.gasBalance(executor.address).amount,
      },
    ),
    question.destination && terms && priceDestination(services, terms, question.destination, paidIn, signal),
    question.origin.connection.reader.dataFee(question.call),
  ]);
  if (simulated.kind === "reverts") return { kind: "reverts", requestId, failure: simulated.failure };
  if (destinationPrice?.kind === "reverts")
    return { kind: "reverts", requestId, failure: destinationPrice.failure };
  // Read after the simulation, just before the balance is charged: the price then rarely changes in between.
  const salePrice = valueWei > 0n ? await salePriceOf(services, chain.native, paidIn) : undefined;
  const salePriceUsd = salePrice?.salePriceUsd;
  const maxFeePerGas = priceCap(prices, chain);
  const flatUsd = wallet === undefined ? 0n : chain.fees.flatUsd;
  const costOf = (gas: bigint): bigint =>
    executionCost(
      { gas, weiPerGas: maxFeePerGas, dataFeeWei: dataFeeCap(dataFeeWei), valueWei, flatUsd },
      { ...native, salePriceUsd },
    ).totalUsd;
  if (simulated.kind === "insufficientFunds") await refuseUncovered(services, payer, costOf(MIN_GAS));
  const outcome = requireSendable(services, question, simulated);
  refuseOwnContracts(services, question.origin, question.call, caller.id, outcome.calls);
  refuseHidden(question.call, executor.address, outcome);
  if (terms !== undefined) requireQuotedDeposit(question, terms, outcome);

  const gasLimit = withHeadroom(outcome.gas);
  const sponsorship = {
    ...baseSponsorship,
    innerCalls: innerCallsOf(outcome, caller),
    costUsd: costOf(gasLimit) + (destinationPrice?.costUsd ?? 0n),
    valueUsd: baseSponsorship.valueUsd + (destinationPrice?.sold.usd ?? 0n),
  };
  applyRules(caller, sponsorship);
  // The same app pays for each call of the fill, under the same rules.
  for (const call of question.destination?.calls ?? [])
    applyRules(caller, {
      ...sponsorship,
      call: sponsoredCall(call),
      innerCalls: innerCallsOf({ calls: destinationPrice?.calls }, caller),
    });
  if (wallet === undefined && terms !== undefined) refuseUnpaid(terms, outcome, prices, native, dataFeeWei);
  const accept = services.accept ?? ((acceptable) => acceptExecution(services, acceptable));
  const answer = await accept({
    caller,
    question,
    requestId,
    quotedRequest: quoted?.record,
    payer,
    wallet,
    referrer: input.executionOptions.referrer,
    sponsorship,
    gasLimit,
    maxFeePerGas,
    nativePriceUsd: native.priceUsd,
    flatUsd,
    salePriceUsd,
    sale: hasValue
      ? {
          paidIn,
          sold: [
            ...(salePrice === undefined
              ? []
              : [{ native: chain.native, priceUsd: salePrice.priceUsd, usd: baseSponsorship.valueUsd }]),
            ...(destinationPrice === undefined ? [] : [destinationPrice.sold]),
          ],
        }
      : undefined,
    destination: destinationPrice?.destination,
    lease,
  });
  return { kind: "accepted", answer };
}

/**
 * The wallet that pays for sponsored calls, and for calls whose quoted output could not pay.
 * @throws ServiceError
 */
function payerOf({ fundingAddress }: ApiKeyIdentity): Address {
  if (fundingAddress === undefined)
    throw refusal("Executions require an API key with a funding address: its app balance pays");
  return fundingAddress;
}

/** Refuses calls that the output of their quote cannot pay for. @throws ServiceError */
function refuseUnpayable({ call, destination }: ParsedExecution, terms: RequestTerms | undefined): void {
  if (terms === undefined)
    throw refusal("subsidizeFees must be true without requestId: there is no output to pay for the call");
  if (terms.originGasUsd === undefined)
    throw refusal(
      "subsidizeFees must be true for a quote without originGasOverhead: its output does not pay for the call",
    );
  if (terms.origin.chainId === terms.destination.chainId)
    throw refusal("subsidizeFees must be true for a quote with the same origin and destination chain");
  if (call.value > 0n) throw refusal("data.value must be 0 unless subsidizeFees is true");
  if (destination !== undefined)
    throw refusal(
      "destinationChainExecutionData requires subsidizeFees to be true: the quote does not pay for it",
    );
}

function sponsorshipOf({ call, user }: ParsedExecution, native: PricedUnit): SponsorshipQuestion {
  const valueUsd = amountToUsdUp(call.value, native);
  return { call: sponsoredCall(call), innerCalls: [], user, costUsd: 0n, valueUsd };
}

/**
 * Applies the key's rules without its budgets, which are counted later under a lock.
 * @throws ServiceError naming the rule that forbids the call
 */
function applyRules({ rules }: ApiKeyIdentity, question: SponsorshipQuestion): void {
  const refused = judgeSponsorship(rules, question, NOTHING_SPENT);
  if (refused !== undefined) throw refusal(`Not sponsored (${refused.rule}): ${refused.message}`);
}

type SuccessfulTrace = Extract<TraceOutcome, { kind: "ok" }>;

/** @throws ServiceError if the call must not be sent, or this instance cannot send it now */
function requireSendable(
  { events }: Pick<Services, "events">,
  { origin }: ParsedExecution,
  simulated: Exclude<SimulatedExecution, { kind: "reverts" }>,
): SuccessfulTrace {
  const facts = { chain: origin.chain.name };
  switch (simulated.kind) {
    case "ok":
      return simulated.outcome;
    case "forbidden":
      throw refusal(simulated.message);
    case "insufficientFunds":
      events.alarm("execution_waits", { ...facts, why: "the executor lacks the native token for a call" });
      throw new ServiceError(
        "SERVICE_UNAVAILABLE",
        "The executor cannot pay for the call at the moment; try again",
      );
    case "unseen":
      events.alarm("execution_unseen", facts);
      throw new ServiceError("SERVICE_UNAVAILABLE", "The node could not trace the call; try again");
    default:
      return simulated satisfies never;
  }
}

/** @throws ServiceError if a rule depends on a missing trace */
function innerCallsOf(
  { calls }: Pick<SuccessfulTrace, "calls">,
  { rules }: ApiKeyIdentity,
): SponsorshipQuestion["innerCalls"] {
  if (calls !== undefined) return calls.map(({ to, selector }) => ({ target: to, selector }));
  if (rules.denyTargets !== undefined || rules.denySelectors !== undefined)
    throw new ServiceError(
      "SERVICE_UNAVAILABLE",
      "denyTargets and denySelectors of the API key require a trace of the call, which the node did not return; try again",
    );
  return [];
}

/**
 * Requires that a call with a quote's id makes the quote's deposit: any other call would close the quote for
 * its user.
 * @throws ServiceError
 */
function requireQuotedDeposit(
  { origin }: ParsedExecution,
  terms: RequestTerms,
  { effects }: SuccessfulTrace,
): void {
  const verdict =
    effects.kind === "seen" ? judgeSimulatedDeposit(effects.logs, origin.chain, terms) : undefined;
  if (verdict?.kind === "mismatch")
    throw refusal(`The call does not make the deposit of the quote: ${verdict.message}`);
  if (verdict?.kind !== "made") throw refusal("The call does not make the deposit of the quote");
}

/** Refuses a call that costs more than the quote's output pays for gas. @throws ServiceError */
function refuseUnpaid(
  terms: RequestTerms,
  { gasUsed }: SuccessfulTrace,
  { baseFeePerGas, maxPriorityFeePerGas }: GasPrices,
  native: PricedUnit,
  dataFeeWei: bigint,
): void {
  const { totalUsd } = executionCost(
    { gas: gasUsed, weiPerGas: baseFeePerGas + maxPriorityFeePerGas, dataFeeWei, valueWei: 0n, flatUsd: 0n },
    native,
  );
  const paidUsd = terms.originGasUsd ?? 0n;
  if (totalUsd > paidUsd)
    throw refusal(
      `The call costs $${formatUsd(totalUsd)}, but the quote pays only $${formatUsd(paidUsd)}; request a quote with a larger originGasOverhead`,
    );
}
