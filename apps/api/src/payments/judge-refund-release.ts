import { UNATTESTABLE_DEPOSIT } from "@causeway/domain";
import type { Chain, Currency, Hex, NonEvmChain } from "@causeway/domain";
import { isPlaceholder } from "../chains/index.ts";
import { refundRecipient } from "../requests/index.ts";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";

/** The facts about a deposit whose refund the operator wants to release. */
export interface ReleaseFacts {
  readonly deposit: DepositRecord;
  /** The request of the deposit, if any. */
  readonly request: RequestRecord | undefined;
  /** Another deposit that pays for the request's fill, if any. */
  readonly fillDeposit: DepositRecord | undefined;
  /** Undefined: the chain is not configured or not enabled. */
  readonly chain: Chain | NonEvmChain | undefined;
  /** Undefined: the chain's configuration does not list it. */
  readonly currency: Currency | undefined;
  /** Newest block read of an EVM chain, if any. Other chains are read when they are final. */
  readonly headNumber: bigint | undefined;
  /** The sender may still map the deposit to an order. */
  readonly isUnmapped: boolean;
}

/** States of a request whose recipient is paid, or about to be. */
const MAY_BE_PAID: ReadonlySet<string> = new Set(["fillable", "filling", "submitted", "filled"]);

export type ReleaseVerdict =
  | { readonly kind: "release"; readonly recipient: Hex; readonly why: string }
  /** Already released and not given up since: nothing changes. */
  | { readonly kind: "already"; readonly releasedAtMs: number; readonly refundState: string }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Judges whether the operator may release the refund of a deposit. A release is final: every reason to refuse
 * is checked first.
 */
export function judgeRefundRelease(facts: ReleaseFacts): ReleaseVerdict {
  const { deposit, request, chain } = facts;
  const { refundState, refundReleasedAtMs } = deposit;
  if (refundReleasedAtMs !== undefined && refundState !== "impossible")
    return { kind: "already", releasedAtMs: refundReleasedAtMs, refundState };
  if (refundState === "final") return refused("the deposit is already refunded");
  if (refundState === "sent") return refused("the refund is in progress: its transaction is signed");
  if (deposit.disposition === "accepted")
    return refused(
      `the deposit was accepted for its request, which is ${request?.state.name ?? "unknown"}: it pays for the fill`,
    );
  if (!deposit.canonical) return refused("the deposit was reorged out");
  if (chain === undefined)
    return refused(`chain ${deposit.chainId} is not configured or not enabled: enable it and restart`);
  if (!isConfirmed(facts))
    return refused(
      `the deposit is not confirmed: it needs block ${deposit.confirmAtBlock}, and the newest scanned block is ${facts.headNumber ?? "unknown"}`,
    );
  const whyNot = whyUnpayable(facts, chain);
  if (whyNot !== undefined) return refused(whyNot);
  if (deposit.refundFailReason === "AMOUNT_TOO_LOW_TO_REFUND")
    return refused("the deposit is worth less than its refund costs (AMOUNT_TOO_LOW_TO_REFUND)");
  const why = whyItWaits(deposit);
  if (why === undefined)
    return refused("the refund does not wait for a release: the worker pays it, see operator trace");
  const recipient =
    request === undefined ? deposit.depositor : refundRecipient(chain, request, deposit.depositor);
  if (isPlaceholder(recipient))
    return refused(
      `no refund recipient is known (${recipient} is a placeholder), so this command cannot pay it: see "Returning a deposit without a recipient" in docs/operations/refunds.md`,
    );
  return { kind: "release", recipient, why };
}

function refused(reason: string): ReleaseVerdict {
  return { kind: "refused", reason };
}

/** Whether another, confirmed deposit pays for the fill. An unconfirmed one could still be reorged out. */
function isFillPaidByAnother({ fillDeposit, chain, headNumber }: ReleaseFacts): boolean {
  return fillDeposit?.canonical === true && isConfirmed({ deposit: fillDeposit, chain, headNumber });
}

function isConfirmed({
  deposit,
  chain,
  headNumber,
}: Pick<ReleaseFacts, "deposit" | "chain" | "headNumber">): boolean {
  if (chain?.vmType !== "evm") return true;
  return headNumber !== undefined && headNumber >= deposit.confirmAtBlock;
}

/** Why the service could not pay this refund even if it were released. */
function whyUnpayable(facts: ReleaseFacts, chain: Chain | NonEvmChain): string | undefined {
  const { deposit, request, currency, isUnmapped } = facts;
  const mayPayForFill = deposit.disposition === "unattributed" && !isFillPaidByAnother(facts);
  if (mayPayForFill && request !== undefined && MAY_BE_PAID.has(request.state.name))
    return `the deposit's request is ${request.state.name}: a refund would pay twice`;
  if (isUnmapped)
    return "the sender may still authorize the deposit for an order: release it after its mapping_until_ms, which operator funds shows";
  if (currency === undefined)
    return `currency ${deposit.currency} is not configured on ${chain.name}: add it to the chain's tokens, restart, and release again`;
  return undefined;
}

/** Why the refund waits for the operator; undefined: it does not. */
function whyItWaits({
  disposition,
  refundState,
  refundWaits,
  refundFailReason,
  isUnattestable,
}: DepositRecord): string | undefined {
  if (disposition === "unattributed")
    return isUnattestable === true ? UNATTESTABLE_DEPOSIT : "the deposit names no known order";
  if (refundState !== "impossible") return refundWaits;
  return [refundFailReason, refundWaits].filter((part) => part !== undefined).join(": ");
}
