import { USD_DECIMALS, formatAmount, formatFixed, formatUsd } from "@causeway/domain";
import type { Address, Currency } from "@causeway/domain";
import type {
  AmountObject,
  BalanceEventsAnswer,
  BalancesAnswer,
  ClaimAnswer,
  ClaimsAnswer,
  HoldsAnswer,
} from "@causeway/wire";
import type { BalanceView, BalancesView, ClaimView } from "./balance-views.port.ts";
import type { BalanceEvent } from "./balance-reads.port.ts";
import type { ClaimState, NewClaim } from "./claims.port.ts";
import type { HoldRecord } from "./ledger.port.ts";

export function balancesJson({ main, all, totalUsd, heldUsd, availableUsd }: BalancesView): BalancesAnswer {
  return {
    ...amountOf(main.currency, main.amount, main.usd),
    balances: all.map(entryOf),
    totalBalanceUsd: usdNumber(totalUsd),
    outstandingFastFillBalanceUsd: usdNumber(heldUsd),
    availableBalanceUsd: usdNumber(availableUsd),
  };
}

function entryOf({ currency, amount, pending, owed, usd }: BalanceView): BalancesAnswer["balances"][number] {
  return {
    ...amountOf(currency, amount, usd),
    pendingAmount: pending.toString(),
    owedAmount: owed.toString(),
  };
}

export function eventJson(wallet: Address, event: BalanceEvent): BalanceEventsAnswer["events"][number] {
  const { id, account, chainId, currency, delta, balanceAfter, context, reason, requestId, atMs } = event;
  return {
    id: Number(id),
    wallet,
    account,
    chainId,
    currency,
    delta: delta.toString(),
    balanceAfter: balanceAfter.toString(),
    context,
    reason,
    requestId: requestId ?? null,
    createdAt: new Date(atMs).toISOString(),
  };
}

export function holdJson(hold: HoldRecord, nowMs: number): HoldsAnswer["holds"][number] {
  const { placedAtMs, resolvedAtMs } = hold;
  return {
    requestId: hold.requestId,
    state: hold.state,
    amountUsd: formatUsd(hold.usd),
    chainId: hold.chainId,
    currency: hold.currency,
    amount: hold.amount.toString(),
    apiKey: hold.keyId,
    placedAt: new Date(placedAtMs).toISOString(),
    resolvedAt: resolvedAtMs === undefined ? null : new Date(resolvedAtMs).toISOString(),
    ageSeconds: Math.max(0, Math.floor(((resolvedAtMs ?? nowMs) - placedAtMs) / 1000)),
  };
}

/** The only step of a claim. It has no `check`: it is complete once the signature is accepted. */
export function offerJson({ claimId, amount, feeAmount, expiresAt }: NewClaim): ClaimAnswer {
  const sign = { signatureKind: "eip191", message: claimId } as const;
  const body = { kind: "claim", requestId: claimId } as const;
  return {
    steps: [
      {
        id: "authorize",
        action: "Sign the claim",
        description: "Your wallet agrees to the payout by signing the id of the claim",
        kind: "signature",
        requestId: claimId,
        depositAddress: "",
        items: [
          {
            status: "incomplete",
            data: { sign, post: { endpoint: "/execute/permits", method: "POST", body } },
          },
        ],
      },
    ],
    claim: { amount: amount.toString(), fee: feeAmount.toString(), expiresAt: expiresAt * 1000 },
  };
}

const statusOf = {
  offered: "pending",
  paying: "pending",
  paid: "success",
  returned: "failure",
} as const satisfies Record<ClaimState, ClaimsAnswer["claims"][number]["status"]>;

export function claimJson({ claim, currency, usd }: ClaimView): ClaimsAnswer["claims"][number] {
  return {
    claimId: claim.claimId,
    wallet: claim.wallet,
    recipient: claim.recipient,
    currency: amountOf(currency, claim.amount, usd),
    fee: claim.feeAmount.toString(),
    txHash: claim.txHash ?? null,
    status: statusOf[claim.state],
    failReason: claim.failReason ?? null,
    createdAt: new Date(claim.createdAtMs).toISOString(),
  };
}

function amountOf(currency: Currency, amount: bigint, usd: bigint): AmountObject {
  const { id, chainId, address, symbol, name, decimals, supportsBridging, logoUri, verified } = currency;
  return {
    currency: {
      id,
      chainId,
      address,
      symbol,
      name,
      decimals,
      supportsBridging,
      metadata: { logoURI: logoUri ?? "", verified },
    },
    amount: amount.toString(),
    amountFormatted: formatAmount(amount, decimals),
    amountUsd: formatUsd(usd),
    minimumAmount: amount.toString(),
  };
}

/** USD with six decimals, which a JavaScript number represents exactly up to nine billion dollars. */
function usdNumber(usd: bigint): number {
  return Number(formatFixed(usd, USD_DECIMALS, 6));
}
