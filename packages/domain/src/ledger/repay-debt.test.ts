import fc from "fast-check";
import { expect, test } from "vitest";
import { splitCredit, splitDebit } from "./repay-debt.ts";

const amount = fc.bigInt({ min: 0n, max: 1n << 90n });

test("credits repay debts first, forced debits empty the balance first, and nothing is lost in either", () => {
  fc.assert(
    fc.property(amount, amount, (moved, debtOrBalance) => {
      const smaller = moved < debtOrBalance ? moved : debtOrBalance;
      const credit = splitCredit(moved, debtOrBalance);
      expect(credit.repaid + credit.credited).toBe(moved);
      expect(credit.repaid).toBe(smaller);
      const debit = splitDebit(moved, debtOrBalance);
      expect(debit.debited + debit.owed).toBe(moved);
      expect(debit.debited).toBe(smaller);
    }),
  );
});
