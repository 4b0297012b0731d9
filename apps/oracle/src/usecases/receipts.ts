/**
 * What must have arrived at one recipient in one currency, all payments to it together: one transfer cannot
 * satisfy two of them.
 */
export interface WantedReceipt {
  readonly recipient: string;
  readonly currency: string;
  readonly minimum: bigint;
  /** Positions of the payments that are wanted, for words. */
  readonly positions: readonly number[];
}

/** Payments by recipient and currency, sums of minimums, in order of first appearance. */
export function groupedReceipts(
  payments: readonly { readonly recipient: string; readonly currency: string; readonly minimum: bigint }[],
): readonly WantedReceipt[] {
  const groups = new Map<string, WantedReceipt>();
  for (const [position, { recipient, currency, minimum }] of payments.entries()) {
    const key = `${recipient}\n${currency}`;
    const before = groups.get(key);
    groups.set(key, {
      recipient,
      currency,
      minimum: (before?.minimum ?? 0n) + minimum,
      positions: [...(before?.positions ?? []), position],
    });
  }
  return [...groups.values()];
}
