import { expect, test } from "vitest";
import { attestedDepository } from "./attested-depository.ts";
import type { DepositEvidence } from "./evidence.ts";

const deposit: DepositEvidence = {
  index: "0",
  depositor: "a",
  currency: "b",
  amount: 1n,
  depositId: undefined,
};
const made = [deposit];
const bare = [{ ...deposit, isBare: true as const }];

test("attests the deposits of one depository only, and prefers the current one", () => {
  const chosen = (present: readonly DepositEvidence[], former: readonly DepositEvidence[]): string =>
    attestedDepository([
      { depository: "present", deposits: present },
      { depository: "former", deposits: former },
    ]).depository;
  expect(chosen([], [])).toBe("present");
  expect(chosen(made, made)).toBe("present");
  expect(chosen([], made)).toBe("former");
  expect(chosen([], bare)).toBe("former");
  expect(chosen(bare, bare)).toBe("present");
});

test("a transfer of any token to the current depository does not displace a deposit to a former one", () => {
  const former = { depository: "former", deposits: made };
  expect(attestedDepository([{ depository: "present", deposits: bare }, former])).toBe(former);
});
