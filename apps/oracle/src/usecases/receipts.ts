/**
 * The total that must have arrived at one recipient in one currency, so that one transfer cannot count for
 * two payments.
 */
export interface RequiredReceipt {
  readonly recipient: string;
  readonly currency: string;
  readonly minimum: bigint;
  /** Indexes of the summed payments, for error messages. */
  readonly positions: readonly number[];
}

/** Groups payments by recipient and currency, with summed minimums, in order of first appearance. */
export function groupReceipts(
  payments: readonly { readonly recipient: string; readonly currency: string; readonly minimum: bigint }[],
): readonly RequiredReceipt[] {
  const groups = new Map<string, RequiredReceipt>();
  for (const [position, { recipient, currency, minimum }] of payments.entries()) {
    const key = `${recipient}\n${currency}`;
    const group = groups.get(key);
    groups.set(key, {
      recipient,
      currency,
      minimum: (group?.minimum ?? 0n) + minimum,
      positions: [...(group?.positions ?? []), position],
    });
  }
  return [...groups.values()];
}
