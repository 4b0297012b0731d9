import { formatUsd, ServiceError, unreachable } from "@causeway/domain";
import type { ErrorCode, RequestId } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";

/** The rules that refuse a fast fill. Each is counted, and named in `errorData.rule`. */
export type FastFillRule =
  | "noSponsoringWallet"
  | "unknownRequest"
  | "superseded"
  | "notABridge"
  | "exchangedInFill"
  | "othersShare"
  | "markedForRefund"
  | "expired"
  | "refunded"
  | "failed"
  | "underWay"
  | "executionNotSent"
  | "depositAddressNotSwept"
  | "fastFillFailed"
  | "settledTooSoon"
  | "currencyNotConfigured"
  | "slowChain"
  | "inputAboveQuote"
  | "inputOfOthersQuote"
  | "variableDeposit"
  | "belowMinimum"
  | "maxFillAmountUsd"
  | "maxFastFillUsd"
  | "maxHoldsUsd"
  | "dailyBurntUsd"
  | "appBalance"
  | OriginRule;

/** Rules about the origin transaction. */
export type OriginRule =
  | "originTransactionMissing"
  | "originTransactionUnknown"
  | "originNotFinal"
  | "originOtherSender"
  | "originOtherCall"
  | "originNonceUsed"
  | "originNonceGap"
  | "originFeeTooLow"
  | "originFundsMissing"
  | "originUnattestable"
  | "originReverts";

/** Builds the refusal of a fast fill; `facts.data.rule` names the rule. */
export function refusal(
  rule: FastFillRule,
  requestId: RequestId,
  message: string,
  data: Readonly<Record<string, unknown>> = {},
): ServiceError {
  return new ServiceError(codes[rule] ?? "FAST_FILL_REFUSED", message, {
    requestId,
    data: { rule, ...data },
  });
}

/** The rule of a refusal; undefined for any other error. */
export function ruleOf(error: unknown): string | undefined {
  if (!(error instanceof ServiceError) || typeof error.facts.data !== "object") return undefined;
  const { rule } = error.facts.data;
  return typeof rule === "string" ? rule : undefined;
}

/** Rules with their own error code; the others use FAST_FILL_REFUSED. */
const codes: Readonly<Partial<Record<FastFillRule, ErrorCode>>> = {
  noSponsoringWallet: "FORBIDDEN",
  appBalance: "INSUFFICIENT_APP_BALANCE",
  unknownRequest: "REQUEST_NOT_FOUND",
  underWay: "REQUEST_IN_PROGRESS",
  executionNotSent: "REQUEST_IN_PROGRESS",
  depositAddressNotSwept: "REQUEST_IN_PROGRESS",
};

/**
 * Whether a request in this state can be fast filled; `filled` if its recipient is already paid.
 * @throws ServiceError FAST_FILL_REFUSED, REQUEST_IN_PROGRESS
 */
export function standingOf(
  { terms, state: { name }, supersededBy }: Pick<RequestRecord, "terms" | "state" | "supersededBy">,
  nowMs: number,
): "open" | "filled" {
  const { requestId, kind, forceRefund, fillDeadlineMs, destination, ...feeTerms } = terms;
  // Funds at their address are deposited for the successor: filling both would pay twice.
  if (supersededBy !== undefined)
    throw refusal(
      "superseded",
      requestId,
      `Request ${requestId} is superseded by request ${supersededBy}; fast fill that one instead`,
      { supersededByRequestId: supersededBy },
    );
  if (kind !== "bridge")
    throw refusal(
      "notABridge",
      requestId,
      "The request cannot be fast filled: it is a direct payment by the user, which no solver fills",
    );
  switch (name) {
    case "filled":
      return "filled";
    case "fillable":
    case "filling":
    case "submitted":
      throw refusal("underWay", requestId, "The request is already being filled");
    case "refunding":
    case "refunded":
      throw refusal("refunded", requestId, "The deposit of the request is being refunded or was refunded");
    case "failed":
      throw refusal("failed", requestId, "The request failed");
    case "expired":
      throw refusal("expired", requestId, "The request expired; request a new quote");
    case "quoted":
    case "accepted":
    case "depositing":
    case "deposited":
      // Its cost is known only in the block of the fill, so no hold can cover it.
      if (destination.paidFrom !== undefined)
        throw refusal(
          "exchangedInFill",
          requestId,
          "A request that swaps in its fill cannot be fast filled: the cost of the swap is only known in the block of the fill",
        );
      // App fees, sponsorship and a gas top-up all depend on the deposit.
      if (
        feeTerms.appFees !== undefined ||
        feeTerms.sponsorship !== undefined ||
        feeTerms.gasTopup !== undefined
      )
        throw refusal(
          "othersShare",
          requestId,
          "A request with appFees, subsidizeFees or topupGas cannot be fast filled; it is filled after its deposit",
        );
      if (forceRefund)
        throw refusal(
          "markedForRefund",
          requestId,
          "The request is never filled: it was quoted with referrer debug-force-refund, or it refunds money at a deposit address",
        );
      if (nowMs > fillDeadlineMs)
        throw refusal("expired", requestId, "The request expired; request a new quote");
      return "open";
    default:
      return unreachable(name);
  }
}

/**
 * Limits of one fast fill, in USD with 18 decimals; an absent limit does not apply.
 * @throws ServiceError FAST_FILL_REFUSED
 */
export function refuseBeyondCaps(
  requestId: RequestId,
  usd: bigint,
  caps: { readonly maxFillAmountUsd?: bigint | undefined; readonly maxFastFillUsd?: bigint | undefined },
): void {
  for (const rule of ["maxFillAmountUsd", "maxFastFillUsd"] as const) {
    const maxUsd = caps[rule];
    if (maxUsd !== undefined && usd > maxUsd)
      throw refusal(
        rule,
        requestId,
        rule === "maxFillAmountUsd"
          ? `maxFillAmountUsd is $${formatUsd(maxUsd)}, but this fast fill counts as $${formatUsd(usd)}: the value of the fill, plus the amount by which the quoted deposit exceeds solverInputCurrencyAmount`
          : `The API key allows fast fills of at most $${formatUsd(maxUsd)} (maxFastFillUsd), but this fast fill counts as $${formatUsd(usd)}: the value of the fill, plus the amount by which the quoted deposit exceeds solverInputCurrencyAmount`,
        { fillUsd: formatUsd(usd), maxUsd: formatUsd(maxUsd) },
      );
  }
}
