/** A credit to a wallet repays what it owes in that asset first. All smallest units of one asset. */
export function splitCredit(
  amount: bigint,
  owed: bigint,
): { readonly repaid: bigint; readonly credited: bigint } {
  const repaid = amount < owed ? amount : owed;
  return { repaid, credited: amount - repaid };
}

/**
 * A debit that must happen takes the balance first; what it does not cover is owed. All smallest units of one
 * asset.
 */
export function splitDebit(
  amount: bigint,
  balance: bigint,
): { readonly taken: bigint; readonly owed: bigint } {
  const taken = amount < balance ? amount : balance;
  return { taken, owed: amount - taken };
}
