import type { DepositFact } from "@causeway/chains";
import { confirmAtBlock, confirmationsFor, judgeDeposit } from "@causeway/domain";
import type { Chain, OrderId } from "@causeway/domain";
import type { RequestRecord } from "../ports/records.ts";
import type { Services } from "../ports/services.ts";
import type { Tx } from "../ports/unit-of-work.ts";
import { transition } from "./transition.ts";

const BEYOND_ALL_TIERS = 2n ** 255n;

/**
 * Writes down deposits read from canonical blocks and lets each act on the request it names. May be called any number of times with the same facts,
 * by the watcher and by a client's hint alike: what is known already in the same block changes nothing.
 * @param headNumber height of the chain as far as the caller knows it.
 * @param seenAtMs when this process heard of the block (ms since epoch): the start of the fill's latency.
 */
export async function recordDeposits(
  services: Pick<Services, "events" | "clock">,
  tx: Tx,
  chain: Chain,
  facts: readonly DepositFact[],
  headNumber: bigint,
  seenAtMs: number,
): Promise<void> {
  const orderIds = [...new Set(facts.flatMap((fact) => (fact.id === undefined ? [] : [fact.id as OrderId])))];
  const records = await tx.requests.lockByOrders(orderIds);
  const lent = await lentOn(tx, chain, headNumber, facts.length);
  for (const fact of facts) {
    const record = fact.id === undefined ? undefined : records.get(fact.id);
    const next = await recordOne(services, tx, chain, fact, record, headNumber, seenAtMs, lent);
    if (next) records.set(next.terms.orderId, next);
  }
}

/** What is lent against blocks that may still vanish: read once, counted on by the caller. */
async function lentOn(tx: Tx, chain: Chain, headNumber: bigint, facts: number): Promise<{ usd: bigint }> {
  if (chain.maxUnconfirmedUsd === undefined || facts === 0) return { usd: 0n };
  const strictest = confirmationsFor(chain.confirmationTiers, BEYOND_ALL_TIERS);
  return { usd: await tx.deposits.valueAbove(chain.id, headNumber - BigInt(strictest)) };
}

async function recordOne(
  services: Pick<Services, "events" | "clock">,
  tx: Tx,
  chain: Chain,
  fact: DepositFact,
  record: RequestRecord | undefined,
  headNumber: bigint,
  seenAtMs: number,
  lent: { usd: bigint },
): Promise<RequestRecord | undefined> {
  // The value is known of what was agreed and of less of the same: anything else is treated like the largest, for it goes back and may be worth anything.
  const isAgreed = isWithin(record, chain, fact);
  const agreedUsd = isAgreed ? record.terms.inputUsd : 0n;
  const isBeyondCap = chain.maxUnconfirmedUsd !== undefined && lent.usd + agreedUsd > chain.maxUnconfirmedUsd;
  const confirmations = confirmationsFor(
    chain.confirmationTiers,
    isAgreed && !isBeyondCap ? agreedUsd : BEYOND_ALL_TIERS,
  );
  const dueAt = confirmAtBlock(fact.blockNumber, confirmations);
  const {
    id,
    changed,
    record: known,
  } = await tx.deposits.upsert({
    chainId: chain.id,
    txHash: fact.txHash,
    ordinal: fact.ordinal,
    blockNumber: fact.blockNumber,
    blockHash: fact.blockHash,
    confirmAtBlock: dueAt,
    depositor: fact.depositor,
    sender: fact.sender,
    currency: fact.currency,
    amount: fact.amount,
    orderId: fact.id,
    requestId: record?.terms.requestId,
    disposition: "unattributed",
    reason: undefined,
    seenAtMs,
    valueUsd: agreedUsd,
  });
  if (!changed) return record;
  lent.usd += agreedUsd;

  const shared = { chain: chain.name, txHash: fact.txHash, currency: fact.currency, amount: fact.amount };
  if (record === undefined) {
    services.events.alarm("deposit_unattributed", { ...shared, depositor: fact.depositor, orderId: fact.id });
    return undefined;
  }
  const { terms } = record;
  const verdict = judgeDeposit(terms, { chainId: chain.id, ...fact });
  const nowMs = services.clock.nowMs();
  services.events.happened("deposit_seen", {
    ...shared,
    requestId: terms.requestId,
    verdict: verdict.kind === "match" ? "match" : verdict.reason,
    block: fact.blockNumber,
    tookMs: nowMs - seenAtMs,
  });
  const speaksForRequest = verdict.kind === "match" || verdict.byUser;
  const { record: next } = await transition(
    services,
    tx,
    record,
    {
      kind: "depositSeen",
      depositId: known.id,
      verdict,
      confirmed: dueAt <= headNumber,
      late: nowMs > terms.fillDeadlineMs,
    },
    speaksForRequest && !record.inTxHashes.includes(fact.txHash)
      ? { inTxHashes: [...record.inTxHashes, fact.txHash] }
      : {},
    { depositId: id, txHash: fact.txHash, block: fact.blockNumber, seenAtMs },
  );
  return next;
}

function isWithin(
  record: RequestRecord | undefined,
  chain: Chain,
  fact: DepositFact,
): record is RequestRecord {
  if (record === undefined) return false;
  const { chainId, currency, amount } = record.terms.origin;
  return chain.id === chainId && fact.currency === currency && fact.amount <= amount;
}
