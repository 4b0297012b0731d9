import fc from "fast-check";
import { expect, test } from "vitest";
import type { Address } from "../ids/hex.ts";
import { awaitsRest, decideFunds, dependsOnSender, speaksForRequest } from "./funds-rule.ts";
import type { AddressFacts, FoundFunds, FundsDecision, ReturnFacts } from "./funds-rule.ts";

const usd: Address = `0x${"11".repeat(20)}`;
const other: Address = `0x${"22".repeat(20)}`;
const back: Address = `0x${"33".repeat(20)}`;
const sender: Address = `0x${"44".repeat(20)}`;
const LEAST = 10n;

const quoted: FoundFunds = { chainId: 1, currency: usd, amount: 100n };
const canReturn: ReturnFacts = { canReturn: true, isWorthMoving: (amount) => amount >= LEAST };

function open(changes: Partial<AddressFacts> = {}): AddressFacts {
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

function strict(changes: Partial<AddressFacts> = {}): AddressFacts {
  return open({ strict: true, refundTo: back, ...changes });
}

const found = (changes: Partial<FoundFunds> = {}): FoundFunds => ({ ...quoted, ...changes });

const anAddress = fc.record({
  strict: fc.boolean(),
  quoted: fc.record({
    chainId: fc.constantFrom(1, 2),
    currency: fc.constantFrom(usd, other),
    amount: fc.bigInt(1n, 200n),
  }),
  isUnused: fc.boolean(),
  isFronted: fc.boolean(),
  isFirm: fc.boolean(),
  refundTo: fc.constantFrom<AddressFacts["refundTo"]>("nobody", "sender", back),
  sender: fc.constantFrom(undefined, sender),
});
const someFunds = fc.record({
  chainId: fc.constantFrom(1, 2),
  currency: fc.constantFrom(usd, other),
  amount: fc.bigInt(1n, 400n),
});
const someReturn = fc.boolean().map((isHeld): ReturnFacts => ({
  canReturn: isHeld,
  isWorthMoving: (amount) => isHeld && amount >= LEAST,
}));

/** What leaves the address, whichever way is taken in the end. */
function moved(decision: FundsDecision): bigint[] {
  if (decision.kind === "hold") return [];
  if (decision.kind === "own") return [decision.amount + decision.excess];
  if (decision.kind === "refund") return [decision.amount];
  return [decision.amount, ...moved(decision.otherwise)];
}

test("never more is moved than is there, and what is left behind would not pay its own way back, or has nobody to go to", () => {
  fc.assert(
    fc.property(anAddress, someFunds, someReturn, (address, funds, returning) => {
      for (const amount of moved(decideFunds(address, funds, returning))) {
        expect(amount).toBeGreaterThan(0n);
        expect(amount).toBeLessThanOrEqual(funds.amount);
        const left = funds.amount - amount;
        if (left > 0n && returning.isWorthMoving(left) && !address.isFronted)
          expect([address.refundTo, address.sender]).toEqual(["sender", undefined]);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("a refund goes to who was named or to who sent the money, and to nobody else", () => {
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

test("the promise of a quote is kept for its own sum and nothing less, and only while it is unused", () => {
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

test("a strict address fills what was quoted, and gives what is more back with it, from its order", () => {
  const own = { kind: "own", amount: 100n, refundTo: undefined };
  expect(decideFunds(strict(), found(), canReturn)).toEqual({ ...own, excess: 0n });
  expect(decideFunds(strict({ isFirm: false }), found(), canReturn)).toEqual({ ...own, excess: 0n });
  expect(decideFunds(strict(), found({ amount: 130n }), canReturn)).toEqual({ ...own, excess: 30n });
  expect(decideFunds(strict(), found({ amount: 109n }), canReturn)).toEqual({ ...own, excess: 0n });
});

test.each([
  ["too little", found({ amount: 99n })],
  ["another currency", found({ currency: other })],
  ["another chain", found({ chainId: 2 })],
])("a strict address deposits %s whole under its order, which sends it back", (_, funds) => {
  const whole = { kind: "own", amount: funds.amount, excess: 0n, refundTo: undefined };
  expect(decideFunds(strict(), funds, canReturn)).toEqual(whole);
  expect(decideFunds(strict({ isUnused: false }), funds, canReturn)).toEqual(whole);
});

test("where the refund goes to whoever sent it, the order is made anew with the sender in it", () => {
  const address = strict({ refundTo: "sender", sender });
  expect(decideFunds(address, found(), canReturn)).toMatchObject({ kind: "own", refundTo: sender });
  expect(decideFunds(address, found({ amount: 60n }), canReturn)).toEqual({
    kind: "refund",
    amount: 60n,
    to: sender,
    reason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL",
  });
  const unknown = strict({ refundTo: "sender" });
  expect(decideFunds(unknown, found(), canReturn)).toMatchObject({ kind: "own", amount: 100n });
  expect(decideFunds(unknown, found({ amount: 60n }), canReturn)).toEqual({
    kind: "hold",
    reason: "SENDER_UNKNOWN",
  });
});

test("the sender matters only where a refund to the sender is decided or agreed", () => {
  const address = open({ refundTo: "sender" });
  expect(dependsOnSender(address, found(), canReturn)).toBe(true);
  expect(dependsOnSender(strict({ refundTo: "sender" }), found({ amount: 60n }), canReturn)).toBe(true);
  expect(dependsOnSender(open({ refundTo: back }), found(), canReturn)).toBe(false);
  expect(dependsOnSender({ ...address, isFronted: true }, found({ amount: 99n }), canReturn)).toBe(false);
  const dust = found({ amount: LEAST - 1n });
  expect(dependsOnSender(strict({ refundTo: "sender" }), dust, canReturn)).toBe(false);
});

test("keeps the quote of an open address for exactly the quoted amount while it is firm, and otherwise quotes again", () => {
  expect(decideFunds(open(), found(), canReturn)).toMatchObject({ kind: "own", amount: 100n });
  for (const [address, funds] of [
    [open({ isFirm: false }), found()],
    [open({ isUnused: false }), found()],
    [open(), found({ amount: 100n + LEAST })],
    [open(), found({ amount: 99n })],
    [open(), found({ currency: other })],
    [open(), found({ chainId: 2 })],
  ] as const)
    expect(decideFunds(address, funds, canReturn)).toMatchObject({
      kind: "requote",
      amount: funds.amount,
      otherwise: { kind: "hold", reason: "NO_REFUND_ADDRESS" },
    });
});

test("money for a request that was filled ahead of it covers that fill or stays at the address: it is never quoted anew or refunded", () => {
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

test("dust that anyone can add does not make the quoted amount another payment, and never keeps it waiting", () => {
  const own = { kind: "own", amount: 100n, excess: 0n, refundTo: undefined };
  expect(decideFunds(open(), found({ amount: 100n + LEAST - 1n }), canReturn)).toEqual(own);
  // Without a price nobody can tell what is dust.
  const unpriced: ReturnFacts = { canReturn: false, isWorthMoving: () => false };
  expect(decideFunds(open(), found({ amount: 101n }), unpriced).kind).toBe("requote");
  // In two parts: the confirmed one waits for the other only while both make the quoted amount.
  expect(awaitsRest(open(), found({ amount: 60n }), 100n)).toBe(true);
  expect(awaitsRest(open(), found({ amount: 60n }), 99n)).toBe(false);
  expect(awaitsRest(open(), found({ amount: 100n }), 101n)).toBe(false);
  expect(awaitsRest(open({ isUnused: false }), found({ amount: 60n }), 100n)).toBe(false);
  expect(awaitsRest(open(), found({ amount: 60n, currency: other }), 100n)).toBe(false);
});

test("only configured tokens that are worth moving speak for a request, and the quoted amount always does", () => {
  const told = (funds: FoundFunds, isListed: boolean, isDust: boolean): boolean =>
    speaksForRequest(open(), funds, { isListed, isDust });
  expect(told(found(), true, true)).toBe(true);
  expect(told(found({ amount: 99n }), true, false)).toBe(true);
  expect(told(found({ amount: 99n }), true, true)).toBe(false);
  expect(told(found({ currency: other }), false, false)).toBe(false);
});

test("a fast fill is covered by exactly the quoted amount, however late, and the excess follows the address's own rules", () => {
  const fronted = { isFronted: true, isFirm: false };
  const covers = { kind: "own", amount: 100n, excess: 0n, refundTo: undefined };
  expect(decideFunds(open(fronted), found(), canReturn)).toEqual(covers);
  expect(decideFunds(open(fronted), found({ amount: 150n }), canReturn)).toEqual(covers);
  expect(decideFunds(strict(fronted), found({ amount: 150n }), canReturn)).toEqual({
    ...covers,
    excess: 50n,
  });
  const toSender = strict({ ...fronted, refundTo: "sender", sender });
  expect(decideFunds(toSender, found({ amount: 150n }), canReturn)).toEqual(covers);
  expect(decideFunds(open(fronted), found({ amount: 99n }), canReturn)).toEqual({
    kind: "hold",
    reason: "NO_REFUND_ADDRESS",
  });
  expect(decideFunds(strict(fronted), found({ amount: 99n }), canReturn)).toEqual({
    kind: "hold",
    reason: "FAST_FILL_NOT_COVERED",
  });
});

test("what cannot be given back stays where its owner can take it", () => {
  const none: ReturnFacts = { canReturn: false, isWorthMoving: () => false };
  expect(decideFunds(strict(), found({ currency: other }), none)).toEqual({
    kind: "hold",
    reason: "CURRENCY_NOT_HELD",
  });
  expect(decideFunds(strict(), found({ amount: 9n }), canReturn)).toEqual({
    kind: "hold",
    reason: "AMOUNT_TOO_LOW",
  });
});
