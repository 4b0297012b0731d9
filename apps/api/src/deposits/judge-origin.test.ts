import type { DepositFact, ReceiptFact, TransactionFact } from "@causeway/chains";
import {
  depositErc20Calldata,
  depositNativeCalldata,
  NATIVE_CURRENCY,
  pullAndRouteCalldata,
  routerCalls,
  transferWithIdCalldata,
} from "@causeway/domain";
import { expect, test } from "vitest";
import { someAddress, someHash, someTerms } from "../../../../test/support/terms.ts";
import { findDepositProblem, judgeOrigin, UNREAD_SENDER } from "./judge-origin.ts";
import type { SenderFacts } from "./judge-origin.ts";

const depository = someAddress();
const chain = {
  id: 1,
  contracts: {
    depository,
    router: someAddress(),
    approvalProxy: someAddress(),
    serviceReceiver: someAddress(),
    multicall3: someAddress(),
  },
};
const erc20 = someTerms();
const native = someTerms({ origin: { chainId: 1, currency: NATIVE_CURRENCY, amount: 100n } });

/** The agreed deposit, in the mempool. */
const pending: TransactionFact = {
  hash: someHash(),
  from: erc20.user,
  to: depository,
  input: depositErc20Calldata(erc20.user, erc20.origin.currency, 100n, erc20.orderId),
  value: 0n,
  nonce: 7,
  maxFeePerGas: 10n,
};
const nativeDeposit: TransactionFact = {
  ...pending,
  from: native.user,
  input: depositNativeCalldata(native.user, native.orderId),
  value: 100n,
};
/** A sender who can pay and whose nonce is next. */
const fundedSender: SenderFacts = {
  nextNonce: 7,
  nextPendingNonce: 8,
  baseFeePerGas: 10n,
  simulation: { kind: "ok", gas: 60_000n },
  balance: 100n,
  deposits: [],
};

const ruleOf = (
  terms: typeof erc20,
  transaction: TransactionFact,
  facts: Partial<SenderFacts> = {},
): string | undefined =>
  judgeOrigin(terms, chain, { kind: "pending", transaction }, { ...fundedSender, ...facts })?.rule;

test.each([
  ["a token deposit through the depository", erc20, pending],
  [
    "a token deposit through the depository, with bytes appended by a wallet",
    erc20,
    { ...pending, input: `${pending.input}abcd` },
  ],
  [
    "a token transfer that names the order",
    erc20,
    { ...pending, to: erc20.origin.currency, input: transferWithIdCalldata(depository, 100n, erc20.orderId) },
  ],
  ["native tokens", native, nativeDeposit],
  ["a call of the user's own account that contains the deposit", erc20, { ...pending, to: erc20.user }],
] as const)("accepts %s", (_, terms, transaction) => {
  expect(ruleOf(terms, transaction)).toBeUndefined();
});

test.each([
  ["from a different account", { from: someAddress() }, "originOtherSender"],
  [
    "for a different order",
    { input: depositErc20Calldata(erc20.user, erc20.origin.currency, 100n, someHash()) },
    "originOtherCall",
  ],
  [
    "with a different amount",
    { input: depositErc20Calldata(erc20.user, erc20.origin.currency, 99n, erc20.orderId) },
    "originOtherCall",
  ],
  [
    "of a different token",
    { input: depositErc20Calldata(erc20.user, someAddress(), 100n, erc20.orderId) },
    "originOtherCall",
  ],
  [
    "on behalf of another account",
    { input: depositErc20Calldata(someAddress(), erc20.origin.currency, 100n, erc20.orderId) },
    "originOtherCall",
  ],
  [
    "of native tokens instead",
    { input: depositNativeCalldata(erc20.user, erc20.orderId), value: 100n },
    "originOtherCall",
  ],
  ["with an unrequested value", { value: 1n }, "originOtherCall"],
  [
    "that transfers elsewhere",
    { to: erc20.origin.currency, input: transferWithIdCalldata(someAddress(), 100n, erc20.orderId) },
    "originOtherCall",
  ],
] as const)("rejects a deposit %s", (_, change, rule) => {
  expect(ruleOf(erc20, { ...pending, ...change })).toBe(rule);
});

test("rejects a native deposit with a different value", () => {
  expect(ruleOf(native, { ...nativeDeposit, value: 99n })).toBe("originOtherCall");
});

test.each([
  ["its nonce is used", { nextNonce: 8 }, "originNonceUsed"],
  [
    "an earlier nonce was never sent",
    { nextNonce: 5, nextPendingNonce: 6, simulation: undefined },
    "originNonceGap",
  ],
  ["the base fee is above its cap", { baseFeePerGas: 11n, simulation: undefined }, "originFeeTooLow"],
  ["its sender cannot pay its gas", { simulation: { kind: "insufficientFunds" } }, "originFundsMissing"],
  [
    "its sender lacks the funds, behind a pending approval",
    { nextNonce: 6, nextPendingNonce: 8, simulation: undefined, balance: 99n },
    "originFundsMissing",
  ],
  [
    "it would revert",
    { simulation: { kind: "reverts", data: "0x", reason: "no allowance" } },
    "originReverts",
  ],
] as const satisfies readonly (readonly [string, Partial<SenderFacts>, string])[])(
  "rejects a pending deposit when %s",
  (_, facts, rule) => {
    expect(ruleOf(erc20, pending, facts)).toBe(rule);
  },
);

test("accepts a deposit behind other pending transactions of its sender", () => {
  expect(
    ruleOf(erc20, pending, { nextNonce: 5, nextPendingNonce: 8, simulation: undefined }),
  ).toBeUndefined();
});

test("accepts a transaction that offers exactly the base fee", () => {
  expect(ruleOf(erc20, pending, { baseFeePerGas: 10n })).toBeUndefined();
});

/** A swap of 5 of one token into 100 of another, at least 97. */
const soldToken = someAddress();
const swapTerms = {
  ...erc20,
  input: { currency: soldToken, amount: 5n },
  origin: { ...erc20.origin, minimumAmount: 97n },
};
const { router, approvalProxy } = chain.contracts;

/** The user's swap and deposit through the router, in the mempool; `deposits` is the router's own call. */
function swapAndDeposit(deposits: ReturnType<typeof routerCalls.depositBalance>): TransactionFact {
  const { user } = swapTerms;
  const calls = [
    { to: someAddress(), data: "0xe0e0" as const, value: 0n },
    { to: router, data: deposits, value: 0n },
  ];
  const input = pullAndRouteCalldata(soldToken, 5n, { calls, refundTo: user, refundTokens: [] });
  return { ...pending, to: approvalProxy, input };
}

test.each([
  ["of the filled amount", 97n, undefined],
  ["of more than that", 99n, undefined],
  ["of one unit less", 96n, "originOtherCall"],
] as const)("judges a pending swap that requires a deposit %s", (_, minimum, rule) => {
  const { user, origin, orderId } = swapTerms;
  const deposit = routerCalls.depositBalance(depository, user, origin.currency, minimum, orderId);
  expect(ruleOf(swapTerms, swapAndDeposit(deposit), { balance: 5n })).toBe(rule);
});

test.each([
  ["to another depository", { depository: someAddress() }],
  ["on behalf of another account", { user: someAddress() }],
  ["the token that it sells", { currency: soldToken }],
])("rejects a pending swap that deposits %s", (_, change) => {
  const call = { depository, user: swapTerms.user, currency: swapTerms.origin.currency, ...change };
  const deposit = routerCalls.depositBalance(
    call.depository,
    call.user,
    call.currency,
    97n,
    swapTerms.orderId,
  );
  expect(ruleOf(swapTerms, swapAndDeposit(deposit))).toBe("originOtherCall");
});

test("requires that the sender of a pending swap holds enough of the token it sells", () => {
  const { user, origin, orderId } = swapTerms;
  const deposit = routerCalls.depositBalance(depository, user, origin.currency, 97n, orderId);
  expect(ruleOf(swapTerms, swapAndDeposit(deposit), { balance: 4n })).toBe("originFundsMissing");
  const fromNative = { ...swapTerms, input: { currency: NATIVE_CURRENCY, amount: 5n } };
  const plain = { ...swapAndDeposit(deposit), to: router };
  expect(ruleOf(fromNative, { ...plain, value: 5n })).toBeUndefined();
  expect(ruleOf(fromNative, { ...plain, value: 4n })).toBe("originOtherCall");
});

test("rejects a transaction that no node has", () => {
  expect(judgeOrigin(erc20, chain, { kind: "absent" }, { ...UNREAD_SENDER, deposits: [] })).toEqual({
    rule: "originTransactionUnknown",
    reason: "is not known to the chain",
  });
});

const receipt = { status: "success" } as ReceiptFact;
const minedDeposit: DepositFact = {
  txHash: pending.hash,
  ordinal: 0,
  logIndex: 0,
  blockNumber: 1n,
  blockHash: someHash(),
  depositor: erc20.user,
  sender: someAddress(),
  currency: erc20.origin.currency,
  amount: 100n,
  id: erc20.orderId,
};

test.each([
  ["success", [minedDeposit], undefined],
  ["success", [], "originOtherCall"],
  ["success", [{ ...minedDeposit, amount: 99n }], "originOtherCall"],
  ["success", [{ ...minedDeposit, id: someHash() }], "originOtherCall"],
  ["success", [{ ...minedDeposit, id: someHash() }, minedDeposit], undefined],
  ["success", [{ ...minedDeposit, isUnattestable: true }], "originUnattestable"],
  ["success", [{ ...minedDeposit, amount: 99n, isUnattestable: true }], "originOtherCall"],
  ["reverted", [], "originReverts"],
] as const)("judges a mined transaction (%s) by its deposits (%#)", (status, deposits, rule) => {
  expect(
    judgeOrigin(
      erc20,
      chain,
      { kind: "mined", transaction: pending, receipt: { ...receipt, status } },
      { ...UNREAD_SENDER, deposits },
    )?.rule,
  ).toBe(rule);
});

test("accepts a deposit from any address only on chains where wallets pay from several addresses", () => {
  const fromOtherAddress = { ...minedDeposit, depositor: someAddress() };
  expect(findDepositProblem(erc20, { id: 1, paysFromAnyAddress: true }, [fromOtherAddress])).toBeUndefined();
  expect(findDepositProblem(erc20, { id: 1 }, [fromOtherAddress])?.rule).toBe("originOtherCall");
});
