import { formatUsd, minDeposit, ONE_USD, ServiceError, unreachable } from "@causeway/domain";
import type { Address, RequestId, RequestTerms } from "@causeway/domain";
import type { FastFillOutcome, FastFillRequest } from "../balances/fast-fill.port.ts";
import type { RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { type PlacedHold, placeHold, warmPrices } from "../balances/index.ts";
import {
  frontLeadMs,
  refusal,
  refuseBeyondCaps,
  refuseDoubtfulOrigin,
  ruleOf,
  standingOf,
  waitBeyondLead,
} from "../deposits/index.ts";
import { refusePaused, type KnownPauses } from "../payments/index.ts";
import { priceFastFill } from "./price-fast-fill.ts";
import type { PricedFastFill } from "./price-fast-fill.ts";
import { transition } from "../requests/index.ts";
import { requestNotFound } from "../http/refusals.ts";

type Needs = KnownPauses &
  Pick<
    Services,
    "clock" | "chains" | "prices" | "uow" | "reads" | "events" | "quotePolicy" | "enginePolicy" | "appBalance"
  >;

/**
 * Fills a request before its deposit arrives, against a hold on the calling app's balance. Stores the hold,
 * state, promised amount, job and answer in one commit: a crash leaves all or nothing, and only one of
 * several concurrent calls succeeds.
 * @throws ServiceError REQUEST_NOT_FOUND, REQUEST_IN_PROGRESS, FAST_FILL_REFUSED, INSUFFICIENT_APP_BALANCE,
 * FORBIDDEN; PRICE_FETCH_FAILED, RPC_HTTP_ERROR
 * @throws LeaseLost, RpcFault
 */
export async function requestFastFill(services: Needs, fastFill: FastFillRequest): Promise<FastFillOutcome> {
  try {
    return await accept(services, fastFill);
  } catch (error) {
    const rule = ruleOf(error);
    if (rule !== undefined && error instanceof ServiceError)
      services.events.happened("fast_fill_refused", {
        requestId: fastFill.requestId,
        keyId: fastFill.key.id,
        rule,
        reason: error.message,
      });
    if (rule === "dailyBurntUsd" && error instanceof Error)
      services.events.alarm("fast_fill_gas_spent", {
        wallet: fastFill.key.fundingAddress,
        reason: error.message,
      });
    throw error;
  }
}

async function accept(services: Needs, fastFill: FastFillRequest): Promise<FastFillOutcome> {
  const { key, requestId } = fastFill;
  const wallet = key.fundingAddress;
  if (wallet === undefined)
    throw refusal(
      "noSponsoringWallet",
      requestId,
      "Fast fills require an API key with a funding address: its app balance backs them",
    );
  const request = await services.reads.request(requestId);
  if (request === undefined) throw refusal("unknownRequest", requestId, requestNotFound(requestId).message);
  const { terms } = request;
  if (standingOf(request, services.clock.nowMs()) === "filled") return "filled";

  refusePaused(services, terms.origin.chainId, terms.destination.chainId);
  refuseForeignInput(terms, fastFill);
  const leadMs = frontLeadMs(services, terms);
  refuseUnsettled(services, request);
  const [priced] = await Promise.all([
    priceFastFill(services, terms, fastFill.inputAmount),
    warmPrices(services),
  ]);
  const caps = { maxFillAmountUsd: fastFill.maxUsd, maxFastFillUsd: key.rules.maxFastFillUsd };
  refuseBeyondCaps(requestId, priced.fillUsd + priced.surplusUsd, caps);
  await refuseDoubtfulOrigin(services, request, fastFill);

  const outcome = await services.uow.run(async (tx): Promise<FastFillOutcome> => {
    const current = await tx.requests.lock(requestId);
    if (current === undefined) throw refusal("unknownRequest", requestId, requestNotFound(requestId).message);
    if (standingOf(current, services.clock.nowMs()) === "filled") return "filled";
    refuseUnsettled(services, current);
    await holdAndAccept(services, tx, current, fastFill, { wallet, priced, leadMs });
    if (fastFill.finish) await tx.idempotency.finish(fastFill.finish.lease, fastFill.finish.answer);
    return "queued";
  });
  if (outcome === "queued")
    services.events.happened("fast_fill_accepted", {
      requestId,
      keyId: key.id,
      wallet,
      amount: priced.amount,
      usd: formatUsd(priced.fillUsd),
      costUsd: formatUsd(priced.costUsd),
    });
  return outcome;
}

/**
 * Only the key that requested the quote may choose a lower input, because the surplus then belongs to the app
 * instead of the recipient.
 */
function refuseForeignInput(terms: RequestTerms, { key, inputAmount }: FastFillRequest): void {
  // The fill would pay only the minimum of the variable deposit, and the user would lose the rest.
  if (terms.origin.minimumAmount !== undefined && terms.keyId !== key.id)
    throw refusal(
      "variableDeposit",
      terms.requestId,
      "A request that swaps before its deposit can only be fast filled with the API key that requested the quote",
    );
  if (inputAmount === undefined || inputAmount >= minDeposit(terms) || terms.keyId === key.id) return;
  throw refusal(
    "inputOfOthersQuote",
    terms.requestId,
    "solverInputCurrencyAmount below the quoted input is only allowed with the API key that requested the quote",
  );
}

/**
 * The network must be able to settle the fill against a deposit that arrives as late as allowed; otherwise,
 * the solver would not be repaid.
 */
function refuseUnsettled(services: Needs, request: RequestRecord): void {
  const overlongWait = waitBeyondLead(services, request);
  if (overlongWait === undefined) return;
  const waitsSeconds = Math.ceil(overlongWait.waitsMs / 1000);
  const settledSeconds = Math.floor(overlongWait.leadMs / 1000);
  throw refusal(
    "settledTooSoon",
    request.terms.requestId,
    overlongWait.isSweepDue
      ? `The sweep of the deposit address may take up to ${waitsSeconds} s from now, but a fast fill waits at most ${settledSeconds} s for its deposit; the request is filled after its deposit`
      : `The deposit may arrive up to ${waitsSeconds} s from now, but a fast fill is settled only if its deposit arrives within ${settledSeconds} s; request a quote with a shorter ttl`,
    { waitsSeconds, settledSeconds },
  );
}

async function holdAndAccept(
  services: Needs,
  tx: Tx,
  current: RequestRecord,
  { key }: FastFillRequest,
  {
    wallet,
    priced,
    leadMs,
  }: { readonly wallet: Address; readonly priced: PricedFastFill; readonly leadMs: number | undefined },
): Promise<void> {
  const { requestId, destination } = current.terms;
  // The job of an execution sends nothing once the request is fast filled, so the deposit would never arrive.
  if (
    current.state.name === "accepted" &&
    !(await tx.lanes.hasLiveSlot({ kind: "execution", id: requestId, requestId }))
  )
    throw refusal(
      "executionNotSent",
      requestId,
      "The execution of the request has not been sent yet; try again",
    );
  await refuseUnswept(tx, current);
  await refuseBeyondGasLimit(services, tx, { requestId, wallet });
  const { amount, inputAmount, fillUsd, costUsd, surplus, surplusUsd, prices, toleranceBps } = priced;
  const usd = fillUsd + costUsd;
  const hold = await placeHold(services, tx, {
    wallet,
    keyId: key.id,
    requestId,
    usd,
    chainId: destination.chainId,
    currency: destination.currency,
    amount,
    surplusUsd,
    maxExposureUsd: key.rules.maxHoldsUsd,
  });
  if (hold.kind !== "placed") throw holdRefusal(hold, current, usd, key.rules.maxHoldsUsd ?? 0n);
  const acceptedAtMs = services.clock.nowMs();
  await tx.fastFills.add({
    requestId,
    keyId: key.id,
    wallet,
    amount,
    inputAmount,
    surplus,
    prices,
    toleranceBps,
    depositUntilMs: leadMs === undefined ? undefined : acceptedAtMs + leadMs,
    acceptedAtMs,
  });
  await transition(
    services,
    tx,
    current,
    { kind: "fastFillAccepted" },
    {},
    { triggeredByFastFill: true, amount, inputAmount, usd: formatUsd(usd) },
  );
}

/**
 * Until the sweep of a request has a nonce, the funds at its deposit address may become the deposit of
 * another request. Filling this request early would then pay its recipient twice.
 */
async function refuseUnswept(
  tx: Pick<Tx, "depositAddresses">,
  { terms, state }: RequestRecord,
): Promise<void> {
  const { requestId, depositAddress, origin } = terms;
  if (depositAddress === undefined || state.depositId !== undefined) return;
  const sweeps = await tx.depositAddresses.sweepsWithNonce(requestId);
  const hasAgreedSweep = sweeps.some(
    ({ chainId, currency, amount }) =>
      chainId === origin.chainId && currency === origin.currency && amount === origin.amount,
  );
  if (hasAgreedSweep) return;
  throw refusal(
    "depositAddressNotSwept",
    requestId,
    "The agreed amount has not been moved from the deposit address to the depository yet; try again later",
    { depositAddress: depositAddress.address },
  );
}

const DAY_MS = 24 * 3600 * 1000;

/** Limits the gas of reverted fast fills: it is charged to the app, but the app may be unable to pay. */
async function refuseBeyondGasLimit(
  { clock, enginePolicy }: Pick<Needs, "clock" | "enginePolicy">,
  tx: Pick<Tx, "fastFills">,
  { requestId, wallet }: { readonly requestId: RequestId; readonly wallet: Address },
): Promise<void> {
  const usedUsd = await tx.fastFills.revertedGasUsd(wallet, clock.nowMs() - DAY_MS);
  if (usedUsd < BigInt(enginePolicy.maxFastFillRevertedGasUsd) * ONE_USD) return;
  throw refusal(
    "dailyBurntUsd",
    requestId,
    `Reverted fast fills of this app balance used $${formatUsd(usedUsd)} of gas in 24 hours (maximum $${enginePolicy.maxFastFillRevertedGasUsd}); try again later`,
    { usedUsd: formatUsd(usedUsd) },
  );
}

function holdRefusal(
  hold: Exclude<PlacedHold, { kind: "placed" }>,
  { terms: { requestId } }: RequestRecord,
  usd: bigint,
  maxHoldsUsd: bigint,
): ServiceError {
  const fillUsd = formatUsd(usd);
  switch (hold.kind) {
    case "insufficient": {
      const availableUsd = formatUsd(hold.availableUsd);
      const requiredUsd = formatUsd(hold.requiredUsd);
      return refusal(
        "appBalance",
        requestId,
        hold.requiredUsd > usd
          ? `The app balance has $${availableUsd} available, but the fill and its gas may cost $${fillUsd} ($${requiredUsd} with the margin for price moves)`
          : `The app balance has $${availableUsd} available, but the fill and its gas may cost $${fillUsd}`,
        {
          fillUsd,
          requiredUsd,
          availableUsd,
        },
      );
    }
    case "overExposure": {
      const exposureUsd = formatUsd(hold.exposureUsd);
      return refusal(
        "maxHoldsUsd",
        requestId,
        `Open fast fills of the API key already hold $${exposureUsd}; with this one ($${fillUsd}) they would exceed its rule maxHoldsUsd ($${formatUsd(maxHoldsUsd)})`,
        {
          fillUsd,
          exposureUsd,
        },
      );
    }
    case "taken":
      return refusal(
        "fastFillFailed",
        requestId,
        "A fast fill of the request already failed; the request is filled after its deposit",
      );
    default:
      return unreachable(hold);
  }
}
