import { decide, type DepositId, type FailReason, isFronted } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import { type MovedDeposit, type Reading, recordOf, type Records } from "./deposit-reading.ts";
import { type ServiceTransactions, verdictOf } from "./judge-recorded.ts";

interface NextDeposits {
  /** Those to keep without a refund, for these reasons. */
  readonly tooSmall: readonly { readonly id: DepositId; readonly reason: FailReason }[];
  /** At most one per request. */
  readonly now: readonly MovedDeposit[];
  /** Those whose request first needs its transition by an earlier deposit. */
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
  for (const one of moved) {
    const record = recordOf(records, one);
    const small = reading.isTooSmall?.(one.fact) === true;
    if (record === undefined) {
      if (!small) now.push(one);
      continue;
    }
    if (changing.has(record)) {
      later.push(one);
      continue;
    }
    const reason = small ? whyKept(reading, one, record, sent) : undefined;
    if (reason !== undefined) {
      tooSmall.push({ id: one.deposit.id, reason });
      continue;
    }
    changing.add(record);
    now.push(one);
  }
  return { tooSmall, now, later };
}

/**
 * The refund reason of a deposit too small to be refunded, if nothing else follows from it: then only its row
 * is written. Undefined if something else follows.
 */
function whyKept(
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
  const speaks = verdict.byUser || chain.paysFromAnyAddress === true;
  if (speaks && !inTxHashes.includes(fact.txHash)) return undefined;
  const seen = {
    kind: "depositSeen",
    depositId: deposit.id,
    verdict,
    confirmed: false,
    late: false,
  } as const;
  const decision = decide(state, seen);
  if (decision.kind !== "applied") return undefined;
  const [effect, ...more] = decision.effects;
  if (effect?.kind !== "refundDeposit" || more.length > 0) return undefined;
  const { next } = decision;
  const isUnchanged =
    next.name === state.name && next.depositId === state.depositId && next.front === state.front;
  return isUnchanged ? effect.reason : undefined;
}
