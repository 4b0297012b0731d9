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
const reported = [deposit];
const bareTransfers = [{ ...deposit, isBare: true as const }];

test("attests the deposits of one depository only, and prefers the current one", () => {
  const chosen = (present: readonly DepositEvidence[], former: readonly DepositEvidence[]): string =>
    attestedDepository([
      { depository: "present", deposits: present },
      { depository: "former", deposits: former },
    ]).depository;
  expect(chosen([], [])).toBe("present");
  expect(chosen(reported, reported)).toBe("present");
  expect(chosen([], reported)).toBe("former");
  expect(chosen([], bareTransfers)).toBe("former");
  expect(chosen(bareTransfers, bareTransfers)).toBe("present");
});

test("a transfer without an id to the current depository does not displace a deposit to a former one", () => {
  const former = { depository: "former", deposits: reported };
  expect(attestedDepository([{ depository: "present", deposits: bareTransfers }, former])).toBe(former);
});
