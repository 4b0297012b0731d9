/** A credit first repays the wallet's debt in that asset. All amounts in base units of one asset. */
export function splitCredit(
  amount: bigint,
  owed: bigint,
): { readonly repaid: bigint; readonly credited: bigint } {
  const repaid = amount < owed ? amount : owed;
  return { repaid, credited: amount - repaid };
}

/** A forced debit uses the balance first; the rest becomes debt. All amounts in base units of one asset. */
export function splitDebit(
  amount: bigint,
  balance: bigint,
): { readonly debited: bigint; readonly owed: bigint } {
  const debited = amount < balance ? amount : balance;
  return { debited, owed: amount - debited };
}
