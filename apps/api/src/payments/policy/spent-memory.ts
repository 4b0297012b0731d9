import { createHash } from "node:crypto";
import type { CountedPayment, SpentMemory } from "./limits.port.ts";

interface CountedAmount {
  readonly lane: string;
  readonly usd: bigint;
}

/**
 * Amounts that this process has signed, by day. Changed or deleted rows in the database cannot lower them.
 * They start at zero after a restart.
 */
export function spentMemory(): SpentMemory {
  let today = -1;
  const payments = new Map<string, CountedAmount>();
  const sums = new Map<string, bigint>();
  const unpaid = new Set<string>();
  return {
    sumOf: ({ chainId, key, day }) => (day === today ? (sums.get(`${chainId} ${key}`) ?? 0n) : 0n),
    add({ payment, key, day, usd, maxUsd }) {
      if (day > today) {
        today = day;
        payments.clear();
        sums.clear();
        unpaid.clear();
      }
      const lane = `${payment.chainId} ${key}`;
      const sum = sums.get(lane) ?? 0n;
      const id = identityOf(payment);
      const countedUsd = payments.get(id)?.usd ?? 0n;
      const addedUsd = usd > countedUsd ? usd - countedUsd : 0n;
      if (addedUsd === 0n || (maxUsd !== undefined && sum + addedUsd > maxUsd)) return sum + addedUsd;
      payments.set(id, { lane, usd });
      sums.set(lane, sum + addedUsd);
      return sum + addedUsd;
    },
    noteUnpaid(payment, isUnpaid) {
      const id = identityOf(payment);
      if (!isUnpaid) unpaid.delete(id);
      else if (payments.has(id)) unpaid.add(id);
    },
    release(payment) {
      const id = identityOf(payment);
      const counted = payments.get(id);
      if (counted === undefined || !unpaid.delete(id)) return;
      payments.delete(id);
      sums.set(counted.lane, (sums.get(counted.lane) ?? 0n) - counted.usd);
    },
  };
}

/** A hash of every part of the row that determines the payment. */
function identityOf({ id, chainId, sender, nonce, call, outflow }: CountedPayment): string {
  const parts = [
    id,
    chainId,
    sender,
    nonce,
    call.to,
    call.data,
    call.value,
    outflow.currency,
    outflow.amount,
  ];
  return createHash("sha256").update(parts.map(String).join(" ").toLowerCase()).digest("base64");
}
