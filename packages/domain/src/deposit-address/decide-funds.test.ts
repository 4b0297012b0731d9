import fc from "fast-check";
import { expect, test } from "vitest";
import type { Address } from "../ids/hex.ts";
import { shouldAwaitRest, decideFunds, dependsOnSender, concernsRequest } from "./decide-funds.ts";
import type { AddressFacts, FoundFunds, FundsDecision, ReturnFacts } from "./decide-funds.ts";

const usd: Address = `0x${"11".repeat(20)}`;
const otherCurrency: Address = `0x${"22".repeat(20)}`;
const refundAddress: Address = `0x${"33".repeat(20)}`;
const sender: Address = `0x${"44".repeat(20)}`;
const MIN_WORTH = 10n;

const quoted: FoundFunds = { chainId: 1, currency: usd, amount: 100n };
const canReturn: ReturnFacts = { canReturn: true, isWorthMoving: (amount) => amount >= MIN_WORTH };

function openAddress(changes: Partial<AddressFacts> = {}): AddressFacts {
  return {
    strict: false,
    quoted,
    isUnused: true,
    isFronted: false,
    isFirm: true,
    refundTo: "nobody",
    sender: undefined,
    ...changes,
  };
}

function strictAddress(changes: Partial<AddressFacts> = {}): AddressFacts {
  return openAddress({ strict: true, refundTo: refundAddress, ...changes });
}

const fundsWith = (changes: Partial<FoundFunds> = {}): FoundFunds => ({ ...quoted, ...changes });

const anAddress = fc.record({
  strict: fc.boolean(),
  quoted: fc.record({
    chainId: fc.constantFrom(1, 2),
    currency: fc.constantFrom(usd, otherCurrency),
    amount: fc.bigInt(1n, 200n),
  }),
  isUnused: fc.boolean(),
  isFronted: fc.boolean(),
  isFirm: fc.boolean(),
  refundTo: fc.constantFrom<AddressFacts["refundTo"]>("nobody", "sender", refundAddress),
  sender: fc.constantFrom(undefined, sender),
});
const someFunds = fc.record({
  chainId: fc.constantFrom(1, 2),
  currency: fc.constantFrom(usd, otherCurrency),
  amount: fc.bigInt(1n, 400n),
});
const someReturn = fc.boolean().map((isHeld): ReturnFacts => ({
  canReturn: isHeld,
  isWorthMoving: (amount) => isHeld && amount >= MIN_WORTH,
}));

/** The amounts that leave the address under a decision. */
function movedAmounts(decision: FundsDecision): bigint[] {
  if (decision.kind === "hold") return [];
  if (decision.kind === "own") return [decision.amount + decision.excess];
  if (decision.kind === "refund") return [decision.amount];
  return [decision.amount, ...movedAmounts(decision.otherwise)];
}

test("moves at most the balance, and leaves only funds that would not pay for their refund or have no recipient", () => {
  fc.assert(
    fc.property(anAddress, someFunds, someReturn, (address, funds, returning) => {
      for (const amount of movedAmounts(decideFunds(address, funds, returning))) {
        expect(amount).toBeGreaterThan(0n);
        expect(amount).toBeLessThanOrEqual(funds.amount);
        const remaining = funds.amount - amount;
        if (remaining > 0n && returning.isWorthMoving(remaining) && !address.isFronted)
          expect([address.refundTo, address.sender]).toEqual(["sender", undefined]);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("refunds only the named address or the sender", () => {
  fc.assert(
    fc.property(anAddress, someFunds, someReturn, (address, funds, returning) => {
      const decision = decideFunds(address, funds, returning);
      const last = decision.kind === "requote" ? decision.otherwise : decision;
      if (last.kind === "refund") {
        expect(returning.canReturn).toBe(true);
        expect(last.to).toBe(address.refundTo === "sender" ? address.sender : address.refundTo);
      }
      if (last.kind === "hold" && last.reason === "NO_REFUND_ADDRESS")
        expect(address.refundTo).toBe("nobody");
      if (last.kind === "hold" && last.reason === "SENDER_UNKNOWN") expect(address.sender).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});

test("keeps a quote only for its exact amount, and only while it is unused", () => {
  fc.assert(
    fc.property(anAddress, someFunds, someReturn, (address, funds, returning) => {
      const decision = decideFunds(address, funds, returning);
      const isMoney = funds.chainId === address.quoted.chainId && funds.currency === address.quoted.currency;
      if (decision.kind === "own" && !address.strict) {
        expect([isMoney, address.isUnused, address.isFirm || address.isFronted]).toEqual([true, true, true]);
        expect([decision.amount, decision.excess]).toEqual([address.quoted.amount, 0n]);
      }
      if (decision.kind === "own" && decision.excess > 0n)
        expect(decision.amount).toBe(address.quoted.amount);
    }),
    { numRuns: 2_000 },
  );
});

test("a strict address deposits the quoted amount for the fill, and any excess as a second deposit for a refund", () => {
  const ownDeposit = { kind: "own", amount: 100n, refundTo: undefined };
  expect(decideFunds(strictAddress(), fundsWith(), canReturn)).toEqual({ ...ownDeposit, excess: 0n });
  expect(decideFunds(strictAddress({ isFirm: false }), fundsWith(), canReturn)).toEqual({
    ...ownDeposit,
    excess: 0n,
  });
  expect(decideFunds(strictAddress(), fundsWith({ amount: 130n }), canReturn)).toEqual({
    ...ownDeposit,
    excess: 30n,
  });
  expect(decideFunds(strictAddress(), fundsWith({ amount: 109n }), canReturn)).toEqual({
    ...ownDeposit,
    excess: 0n,
  });
});

test.each([
  ["too little", fundsWith({ amount: 99n })],
  ["another currency", fundsWith({ currency: otherCurrency })],
  ["another chain", fundsWith({ chainId: 2 })],
])("a strict address deposits %s whole under its order, which refunds it", (_, funds) => {
  const whole = { kind: "own", amount: funds.amount, excess: 0n, refundTo: undefined };
  expect(decideFunds(strictAddress(), funds, canReturn)).toEqual(whole);
  expect(decideFunds(strictAddress({ isUnused: false }), funds, canReturn)).toEqual(whole);
});

test("an address that refunds the sender creates the order again with the sender in it", () => {
  const address = strictAddress({ refundTo: "sender", sender });
  expect(decideFunds(address, fundsWith(), canReturn)).toMatchObject({ kind: "own", refundTo: sender });
  expect(decideFunds(address, fundsWith({ amount: 60n }), canReturn)).toEqual({
    kind: "refund",
    amount: 60n,
    to: sender,
    reason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL",
  });
  const unknown = strictAddress({ refundTo: "sender" });
  expect(decideFunds(unknown, fundsWith(), canReturn)).toMatchObject({ kind: "own", amount: 100n });
  expect(decideFunds(unknown, fundsWith({ amount: 60n }), canReturn)).toEqual({
    kind: "hold",
    reason: "SENDER_UNKNOWN",
  });
});

test("needs the sender only where a refund to the sender is decided or agreed", () => {
  const address = openAddress({ refundTo: "sender" });
  expect(dependsOnSender(address, fundsWith(), canReturn)).toBe(true);
  expect(dependsOnSender(strictAddress({ refundTo: "sender" }), fundsWith({ amount: 60n }), canReturn)).toBe(
    true,
  );
  expect(dependsOnSender(openAddress({ refundTo: refundAddress }), fundsWith(), canReturn)).toBe(false);
  expect(dependsOnSender({ ...address, isFronted: true }, fundsWith({ amount: 99n }), canReturn)).toBe(false);
  const dust = fundsWith({ amount: MIN_WORTH - 1n });
  expect(dependsOnSender(strictAddress({ refundTo: "sender" }), dust, canReturn)).toBe(false);
});

test("keeps the quote of an open address for exactly the quoted amount while it is firm, and otherwise quotes again", () => {
  expect(decideFunds(openAddress(), fundsWith(), canReturn)).toMatchObject({ kind: "own", amount: 100n });
  for (const [address, funds] of [
    [openAddress({ isFirm: false }), fundsWith()],
    [openAddress({ isUnused: false }), fundsWith()],
    [openAddress(), fundsWith({ amount: 100n + MIN_WORTH })],
    [openAddress(), fundsWith({ amount: 99n })],
    [openAddress(), fundsWith({ currency: otherCurrency })],
    [openAddress(), fundsWith({ chainId: 2 })],
  ] as const)
    expect(decideFunds(address, funds, canReturn)).toMatchObject({
      kind: "requote",
      amount: funds.amount,
      otherwise: { kind: "hold", reason: "NO_REFUND_ADDRESS" },
    });
});

test("funds of a fast-filled request cover that fill or stay at the address, and are never requoted or refunded", () => {
  fc.assert(
    fc.property(anAddress, someFunds, someReturn, (address, funds, returning) => {
      const fronted = { ...address, isUnused: true, isFronted: true };
      const { quoted } = fronted;
      const isCovered =
        funds.chainId === quoted.chainId &&
        funds.currency === quoted.currency &&
        funds.amount >= quoted.amount;
      const decision = decideFunds(fronted, funds, returning);
      if (!isCovered) expect(decision.kind).toBe("hold");
      else expect(decision).toMatchObject({ kind: "own", amount: quoted.amount, refundTo: undefined });
    }),
    { numRuns: 2_000 },
  );
});

test("added dust does not change the quoted amount into another payment, and never delays it", () => {
  const ownDeposit = { kind: "own", amount: 100n, excess: 0n, refundTo: undefined };
  expect(decideFunds(openAddress(), fundsWith({ amount: 100n + MIN_WORTH - 1n }), canReturn)).toEqual(
    ownDeposit,
  );
  // Without a price, dust cannot be recognized.
  const unpriced: ReturnFacts = { canReturn: false, isWorthMoving: () => false };
  expect(decideFunds(openAddress(), fundsWith({ amount: 101n }), unpriced).kind).toBe("requote");
  // In two parts: the confirmed one waits only while both add up to the quoted amount.
  expect(shouldAwaitRest(openAddress(), fundsWith({ amount: 60n }), 100n)).toBe(true);
  expect(shouldAwaitRest(openAddress(), fundsWith({ amount: 60n }), 99n)).toBe(false);
  expect(shouldAwaitRest(openAddress(), fundsWith({ amount: 100n }), 101n)).toBe(false);
  expect(shouldAwaitRest(openAddress({ isUnused: false }), fundsWith({ amount: 60n }), 100n)).toBe(false);
  expect(shouldAwaitRest(openAddress(), fundsWith({ amount: 60n, currency: otherCurrency }), 100n)).toBe(
    false,
  );
});

test("reports only configured tokens worth moving, and always the quoted amount", () => {
  const isReported = (funds: FoundFunds, isListed: boolean, isDust: boolean): boolean =>
    concernsRequest(openAddress(), funds, { isListed, isDust });
  expect(isReported(fundsWith(), true, true)).toBe(true);
  expect(isReported(fundsWith({ amount: 99n }), true, false)).toBe(true);
  expect(isReported(fundsWith({ amount: 99n }), true, true)).toBe(false);
  expect(isReported(fundsWith({ currency: otherCurrency }), false, false)).toBe(false);
});

test("only the exact quoted amount covers a fast fill, even if late, and the excess follows the address's own rules", () => {
  const fronted = { isFronted: true, isFirm: false };
  const covers = { kind: "own", amount: 100n, excess: 0n, refundTo: undefined };
  expect(decideFunds(openAddress(fronted), fundsWith(), canReturn)).toEqual(covers);
  expect(decideFunds(openAddress(fronted), fundsWith({ amount: 150n }), canReturn)).toEqual(covers);
  expect(decideFunds(strictAddress(fronted), fundsWith({ amount: 150n }), canReturn)).toEqual({
    ...covers,
    excess: 50n,
  });
  const toSender = strictAddress({ ...fronted, refundTo: "sender", sender });
  expect(decideFunds(toSender, fundsWith({ amount: 150n }), canReturn)).toEqual(covers);
  expect(decideFunds(openAddress(fronted), fundsWith({ amount: 99n }), canReturn)).toEqual({
    kind: "hold",
    reason: "NO_REFUND_ADDRESS",
  });
  expect(decideFunds(strictAddress(fronted), fundsWith({ amount: 99n }), canReturn)).toEqual({
    kind: "hold",
    reason: "FAST_FILL_NOT_COVERED",
  });
});

test("funds that cannot be refunded stay where their owner can recover them", () => {
  const none: ReturnFacts = { canReturn: false, isWorthMoving: () => false };
  expect(decideFunds(strictAddress(), fundsWith({ currency: otherCurrency }), none)).toEqual({
    kind: "hold",
    reason: "CURRENCY_NOT_HELD",
  });
  expect(decideFunds(strictAddress(), fundsWith({ amount: 9n }), canReturn)).toEqual({
    kind: "hold",
    reason: "AMOUNT_TOO_LOW",
  });
});
