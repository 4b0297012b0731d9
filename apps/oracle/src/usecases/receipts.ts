/**
 * The total that must have arrived at one recipient in one currency, so that one transfer cannot count for
 * two payments.
 */
export interface WantedReceipt {
  readonly recipient: string;
  readonly currency: string;
  readonly minimum: bigint;
  /** Indexes of these payments, for messages. */
  readonly positions: readonly number[];
}

/** Groups payments by recipient and currency, with summed minimums, in order of first appearance. */
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
