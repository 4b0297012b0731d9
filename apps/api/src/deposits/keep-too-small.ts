import { decide, type DepositId, type FailReason, isFronted } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import { type MovedDeposit, type Reading, recordOf, type Records } from "./deposit-reading.ts";
import { type ServiceTransactions, verdictOf } from "./judge-recorded.ts";

interface NextDeposits {
  /** Deposits to keep without a refund, each with the reason. */
  readonly tooSmall: readonly { readonly id: DepositId; readonly reason: FailReason }[];
  /** Deposits to apply now: at most one per request. */
  readonly now: readonly MovedDeposit[];
  /** Deposits whose request first needs its transition by an earlier deposit. */
  readonly later: readonly MovedDeposit[];
}

export function nextDeposits(
  reading: Reading,
  moved: readonly MovedDeposit[],
  records: Records,
  sent: ServiceTransactions,
): NextDeposits {
  const tooSmall: { id: DepositId; reason: FailReason }[] = [];
  const [now, later]: [MovedDeposit[], MovedDeposit[]] = [[], []];
  const changing = new Set<RequestRecord>();
  for (const movedDeposit of moved) {
    const record = recordOf(records, movedDeposit);
    const isSmall = reading.isTooSmall?.(movedDeposit.fact) === true;
    if (record === undefined) {
      if (!isSmall) now.push(movedDeposit);
      continue;
    }
    if (changing.has(record)) {
      later.push(movedDeposit);
      continue;
    }
    const reason = isSmall ? reasonToKeep(reading, movedDeposit, record, sent) : undefined;
    if (reason !== undefined) {
      tooSmall.push({ id: movedDeposit.deposit.id, reason });
      continue;
    }
    changing.add(record);
    now.push(movedDeposit);
  }
  return { tooSmall, now, later };
}

/**
 * The refund reason of a deposit too small to be refunded, if nothing else follows from it: then only its row
 * is written. Undefined if something else follows.
 */
function reasonToKeep(
  { chain }: Reading,
  { fact, deposit }: MovedDeposit,
  record: RequestRecord,
  sent: ServiceTransactions,
): FailReason | undefined {
  const { state, inTxHashes } = record;
  const { refundState, refundReleasedAtMs } = deposit;
  const isUnderWay = refundState === "sent" || refundState === "final" || refundReleasedAtMs !== undefined;
  if (isUnderWay || state.depositId === deposit.id) return undefined;
  const verdict = verdictOf(chain, record, fact, sent);
  if (verdict.kind === "match" || verdict.reason === "DEPOSIT_UNATTESTABLE") return undefined;
  // A wrong deposit by the user becomes the request's if the fast fill fails.
  if (verdict.byUser && isFronted(state)) return undefined;
  const isReported = verdict.byUser || chain.paysFromAnyAddress === true;
  if (isReported && !inTxHashes.includes(fact.txHash)) return undefined;
  const event = {
    kind: "depositSeen",
    depositId: deposit.id,
    verdict,
    confirmed: false,
    late: false,
  } as const;
  const decision = decide(state, event);
  if (decision.kind !== "applied") return undefined;
  const [effect, ...otherEffects] = decision.effects;
  if (effect?.kind !== "refundDeposit" || otherEffects.length > 0) return undefined;
  const { next } = decision;
  const isUnchanged =
    next.name === state.name && next.depositId === state.depositId && next.front === state.front;
  return isUnchanged ? effect.reason : undefined;
}
