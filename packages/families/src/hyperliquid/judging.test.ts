import {
  encodeHyperliquidAction,
  hyperliquidSigningProfiles,
  hyperliquidActionId,
  MAINNET_USDC_TOKEN_ID,
  PERPS_CURRENCY,
  type Address,
  type Hex,
  type HyperliquidAction,
} from "@causeway/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import vector from "../../../../test/fixtures/oracle/withdrawal-hl-usdsend.json" with { type: "json" };
import type { PaymentQuestion } from "../evidence.ts";
import type { HyperliquidTransaction, LedgerTransfer } from "./answers.ts";
import { depositIn } from "./deposits.ts";
import { purposeOf } from "./payments/transfer-purpose.ts";
import { judgePayment } from "./payments.ts";
import { isExecutionOf, mayBeExecutionOf, readWithdrawal } from "./withdrawals.ts";

const user: Address = "0x00000000000000000000000000000000000000a1";
const friend: Address = "0x00000000000000000000000000000000000000a2";
const depository: Address = "0x00000000000000000000000000000000000000d1";
const oldDepository: Address = "0x00000000000000000000000000000000000000d2";
const HYPE: Hex = "0x0d01dc56dcaaca66ad901c959b4011ec";
const NOW = 1_763_761_234_567n;

const rules = {
  network: "Mainnet",
  usdcTokenId: MAINNET_USDC_TOKEN_ID,
  decimalsOf: (tokenId: Hex) => ({ [MAINNET_USDC_TOKEN_ID]: 8, [HYPE]: 2 })[tokenId],
  depositories: [depository, oldDepository],
  profile: hyperliquidSigningProfiles.hyperliquid,
};

type UsdSend = Extract<HyperliquidAction, { type: "UsdSend" }>;
type SendAsset = Extract<HyperliquidAction, { type: "SendAsset" }>;

const usdSend = (fields: Partial<UsdSend> = {}): UsdSend => ({
  type: "UsdSend",
  chain: "Mainnet",
  destination: depository,
  amount: "12.5",
  time: NOW - 5n,
  ...fields,
});
const sendAsset = (fields: Partial<SendAsset> = {}): SendAsset => ({
  type: "SendAsset",
  chain: "Mainnet",
  destination: depository,
  sourceDex: "",
  destinationDex: "",
  token: `USDC:${MAINNET_USDC_TOKEN_ID}`,
  amount: "12.5",
  fromSubAccount: "",
  nonce: NOW - 5n,
  ...fields,
});
const transaction = (
  action: HyperliquidAction | undefined,
  fields: Partial<HyperliquidTransaction> = {},
): HyperliquidTransaction => ({
  hash: `0x${"77".repeat(32)}`,
  time: NOW,
  block: 1_000n,
  user,
  error: undefined,
  action,
  isOpaque: false,
  ...fields,
});
const readDeposit = (action: HyperliquidAction | undefined, fields: Partial<HyperliquidTransaction> = {}) =>
  depositIn(transaction(action, fields), rules);

test("a `usdSend` to any depository is a deposit of USDC on the first dex, identified by the nonce of the action", () => {
  for (const destination of [depository, oldDepository]) {
    const expected = {
      sender: user,
      destination,
      currency: PERPS_CURRENCY,
      amount: 1_250_000_000n,
      nonce: NOW - 5n,
    };
    expect(readDeposit(usdSend({ destination }))).toMatchObject(expected);
    expect(readDeposit(sendAsset({ destination }))).toMatchObject(expected);
  }
});

test("the destination determines the currency of a deposit, not the source", () => {
  const currencyOf = (fields: Partial<SendAsset>) =>
    (readDeposit(sendAsset({ amount: "1", ...fields })) as { currency?: string }).currency;
  expect(currencyOf({ sourceDex: "spot", destinationDex: "" })).toBe(PERPS_CURRENCY);
  expect(currencyOf({ sourceDex: "", destinationDex: "spot" })).toBe(MAINNET_USDC_TOKEN_ID);
  expect(currencyOf({ sourceDex: "xyz", destinationDex: "xyz" })).toBe(`${MAINNET_USDC_TOKEN_ID}78797a`);
  expect(currencyOf({ sourceDex: "spot", destinationDex: "spot", token: `HYPE:${HYPE}` })).toBe(HYPE);
});

test("refuses an amount with more decimals than the token has", () => {
  const amountOf = (amount: string, token = `HYPE:${HYPE}`) =>
    readDeposit(sendAsset({ sourceDex: "spot", destinationDex: "spot", token, amount }));
  expect(amountOf("0.05")).toMatchObject({ amount: 5n });
  expect(amountOf("123456789012345678901.25")).toMatchObject({ amount: 12_345_678_901_234_567_890_125n });
  for (const text of ["0.005", "1.999", "1e3", "1E2", "-1", "0", "0.00", "", "0x1", " 1"])
    expect(amountOf(text), text).toHaveProperty("refusal");
  expect(readDeposit(usdSend({ amount: "0.000000001" }))).toHaveProperty("refusal");
});

test("never credits more than the amount's text states, regardless of its format", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9.eE+-]{1,20}$/), (text) => {
      const deposit = readDeposit(usdSend({ amount: text }));
      if (deposit === undefined || "refusal" in deposit) return;
      const [whole = "", fraction = ""] = text.split(".");
      expect(deposit.amount).toBe(BigInt(whole + fraction.padEnd(20, "0")) / 10n ** 12n);
      expect(deposit.amount * 10n ** 12n).toBe(BigInt(whole + fraction.padEnd(20, "0")));
    }),
    { numRuns: 2_000 },
  );
});

test("other actions, transfers to others and a depository's own transfers are not deposits", () => {
  expect(readDeposit(undefined)).toBeUndefined();
  expect(readDeposit(usdSend({ destination: friend }))).toBeUndefined();
  for (const depositoryAccount of [depository, oldDepository]) {
    expect(readDeposit(usdSend(), { user: depositoryAccount })).toBeUndefined();
    expect(readDeposit(sendAsset({ sourceDex: "spot" }), { user: depositoryAccount })).toBeUndefined();
  }
});

test("a transfer by a multi-sig account is neither a deposit nor a payment", () => {
  const byMultiSig = transaction(undefined, { isOpaque: true });
  expect(depositIn(byMultiSig, rules)).toBeUndefined();
  expect(judgePayment(byMultiSig, rules, question)).toHaveProperty("refusal");
});

test("refuses a deposit that failed, comes from a sub-account, or names a token that its destination cannot hold", () => {
  expect(readDeposit(usdSend(), { error: "Insufficient balance" })).toEqual({
    refusal: "transaction failed",
  });
  expect(readDeposit(sendAsset({ fromSubAccount: friend }))).toHaveProperty("refusal");
  expect(readDeposit(sendAsset({ token: `HYPE:${HYPE}` }))).toHaveProperty("refusal");
  expect(readDeposit(sendAsset({ token: "USDC" }))).toHaveProperty("refusal");
  const unlisted = `FAKE:0x${"ab".repeat(16)}`;
  expect(readDeposit(sendAsset({ destinationDex: "spot", sourceDex: "spot", token: unlisted }))).toEqual({
    refusal: "token is not listed on Hyperliquid",
  });
  expect(readDeposit(usdSend({ chain: "Testnet" }))).toHaveProperty("refusal");
});

test("identifies a token by its id, not by its name", () => {
  const passing = sendAsset({
    sourceDex: "spot",
    destinationDex: "spot",
    token: `USDC:${HYPE}`,
    amount: "1",
  });
  expect(readDeposit(passing)).toMatchObject({ currency: HYPE, amount: 100n });
});

const id: Hex = `0x${"ab".repeat(32)}`;
const HOUR = 3_600n;
const transferTime = 1_763_761_234n;

test("takes a transfer's purpose from a nonce mapping set within an hour of the transfer", () => {
  const meaning = (setAt: bigint, asOf = setAt) =>
    purposeOf({ entry: { id, depositor: friend, setAt }, asOf }, transferTime);
  for (const setAt of [0n, transferTime, transferTime + HOUR])
    expect(meaning(setAt, transferTime + 9n * HOUR)).toEqual({ kind: "for", id, depositor: friend });
  expect(meaning(transferTime + HOUR + 1n)).toEqual({ kind: "nothing" });
});

test("a transfer without a mapping stays open until the hub's final block is past the hour, and then has no purpose", () => {
  const silence = (asOf: bigint) => purposeOf({ entry: undefined, asOf }, transferTime).kind;
  expect(silence(transferTime + HOUR)).toBe("open");
  expect(silence(transferTime + HOUR + 1n)).toBe("nothing");
});

test("oracles that reach a decision agree, regardless of when they ask", () => {
  const setAt = fc.option(fc.bigInt({ min: transferTime - 10n * HOUR, max: transferTime + 10n * HOUR }), {
    nil: undefined,
  });
  const queryTimes = fc.array(fc.bigInt({ min: transferTime - HOUR, max: transferTime + 12n * HOUR }), {
    minLength: 2,
    maxLength: 8,
  });
  fc.assert(
    fc.property(setAt, queryTimes, (set, times) => {
      const decisions = times
        .map((asOf) => {
          const isThere = set !== undefined && set <= asOf;
          return purposeOf(
            { entry: isThere ? { id, depositor: undefined, setAt: set } : undefined, asOf },
            transferTime,
          );
        })
        .filter(({ kind }) => kind !== "open");
      expect(new Set(decisions.map(({ kind }) => kind)).size).toBeLessThanOrEqual(1);
    }),
  );
});

test("an entry without an id gives no purpose", () => {
  const entry = { id: `0x${"00".repeat(32)}`, depositor: undefined, setAt: transferTime } as const;
  expect(purposeOf({ entry, asOf: transferTime }, transferTime)).toEqual({ kind: "nothing" });
});

const question: PaymentQuestion = {
  orderId: id,
  solver: `0x${"50".repeat(20)}`,
  deadline: Number(NOW / 1_000n),
  extraData: "0x",
  receipts: [{ recipient: friend, currency: PERPS_CURRENCY }],
  calls: [],
};
const judge = (
  action: HyperliquidAction,
  fields: Partial<HyperliquidTransaction> = {},
  queryTimes: Partial<PaymentQuestion> = {},
) => judgePayment(transaction(action, fields), rules, { ...question, ...queryTimes });
const toFriend = { destination: friend };

test("counts what the recipient received in the currency, and each transfer once", () => {
  const expected = { amounts: [1_250_000_000n], payer: user, nonce: NOW - 5n };
  expect(judge(usdSend(toFriend))).toEqual(expected);
  expect(judge(sendAsset(toFriend))).toEqual(expected);
  const receipts = [
    { recipient: friend, currency: MAINNET_USDC_TOKEN_ID },
    { recipient: user, currency: PERPS_CURRENCY },
    { recipient: friend, currency: PERPS_CURRENCY },
  ];
  expect(judge(usdSend(toFriend), {}, { receipts })).toMatchObject({ amounts: [0n, 0n, 1_250_000_000n] });
});

test("a payment on another dex or in another token does not count", () => {
  for (const change of [
    { destinationDex: "spot" },
    { destinationDex: "xyz" },
    { sourceDex: "spot", destinationDex: "spot", token: `HYPE:${HYPE}`, amount: "99" },
  ])
    expect(judge(sendAsset({ ...toFriend, ...change }))).toMatchObject({ amounts: [0n] });
});

test("the time of a payment is that of its block, regardless of the nonce its signer chose", () => {
  const deadline = Number(NOW / 1_000n);
  expect(judge(usdSend({ ...toFriend, time: NOW + 9_000_000n }))).toHaveProperty("amounts");
  const late = { time: BigInt(deadline + 1) * 1_000n };
  expect(judge(usdSend({ ...toFriend, time: 1n }), late)).toHaveProperty("refusal");
});

test("refuses failed transfers, self-transfers, transfers involving a depository or sub-account, and orders with calls", () => {
  expect(judge(usdSend(toFriend), { error: "no" })).toHaveProperty("refusal");
  expect(judge(sendAsset({ destination: user, sourceDex: "spot" }))).toHaveProperty("refusal");
  expect(judge(usdSend(toFriend), { user: oldDepository })).toHaveProperty("refusal");
  expect(judge(usdSend({ destination: oldDepository }))).toHaveProperty("refusal");
  expect(judge(sendAsset({ ...toFriend, fromSubAccount: friend }))).toHaveProperty("refusal");
  expect(judge(usdSend(toFriend), {}, { calls: ["0x12"] })).toHaveProperty("refusal");
  const twice = [question.receipts[0]!, question.receipts[0]!];
  expect(() => judge(usdSend(toFriend), {}, { receipts: twice })).toThrow(RangeError);
});

const { encoded, withdrawalId } = vector.output;

test("reads the payment of the withdrawal in the contract's vectors", () => {
  expect(readWithdrawal(encoded as Hex, rules)).toMatchObject({
    id: withdrawalId,
    recipient: "0x9876543210987654321098765432109876543210",
    currency: PERPS_CURRENCY,
    amount: 12_345_000_000n,
    nonce: 1_735_680_000_000n,
  });
});

const withdrawal = (action: HyperliquidAction) => readWithdrawal(encodeHyperliquidAction(action), rules);

test("refuses payloads whose execution would not pay what is attested", () => {
  expect(withdrawal(sendAsset(toFriend))).toHaveProperty("id");
  for (const action of [
    sendAsset({ ...toFriend, chain: "Testnet" }),
    sendAsset({ destination: depository }),
    sendAsset({ destination: oldDepository }),
    sendAsset({ ...toFriend, destination: `0x${"AB".repeat(20)}` }),
    sendAsset({ ...toFriend, sourceDex: "spot" }),
    sendAsset({ ...toFriend, fromSubAccount: user }),
    sendAsset({ ...toFriend, amount: "0.000000001" }),
    sendAsset({ ...toFriend, amount: "0" }),
    sendAsset({ ...toFriend, amount: "1e3" }),
    usdSend({ ...toFriend, amount: "one" }),
  ])
    expect(withdrawal(action), JSON.stringify({ ...action, nonce: 0, time: 0 })).toHaveProperty("refusal");
  expect(readWithdrawal("0x1234", rules)).toHaveProperty("refusal");
});

test("only a depository's own transaction with exactly the same action executes a withdrawal", () => {
  const action = sendAsset(toFriend);
  const payment = withdrawal(action);
  if ("refusal" in payment) throw new Error(payment.refusal);
  expect(payment.id).toBe(hyperliquidActionId(action, rules.profile));
  const isExecutedBy = (
    fields: Partial<HyperliquidTransaction>,
    executedAction: HyperliquidAction | undefined = action,
  ) => isExecutionOf(transaction(executedAction, { user: depository, ...fields }), payment, rules);
  expect(isExecutedBy({})).toBe(true);
  expect(isExecutedBy({ user: oldDepository })).toBe(true);
  expect(isExecutedBy({ user })).toBe(false);
  expect(isExecutedBy({ error: "Insufficient balance" })).toBe(false);
  for (const change of [
    { amount: "12.50" },
    { nonce: action.nonce + 1n },
    { destination: user },
    { destinationDex: "spot", sourceDex: "spot" },
    { token: `USDC2:${MAINNET_USDC_TOKEN_ID}` },
    { chain: "Testnet" },
    { fromSubAccount: user },
  ])
    expect(isExecutedBy({}, { ...action, ...change }), Object.keys(change).join()).toBe(false);
  expect(isExecutedBy({}, usdSend({ ...toFriend, time: action.nonce }))).toBe(false);
});

test("finds the transaction of an execution from every format of ledger entry", () => {
  const entry: LedgerTransfer = {
    hash: `0x${"88".repeat(32)}`,
    time: NOW,
    kind: "sendAsset",
    user: depository,
    destination: friend,
    amount: "12.5",
    nonce: NOW - 5n,
  };
  for (const action of [sendAsset(toFriend), usdSend(toFriend)]) {
    const payment = withdrawal(action);
    if ("refusal" in payment) throw new Error(payment.refusal);
    const depositoryAccount: LedgerTransfer =
      action.type === "SendAsset" ? entry : { ...entry, kind: "usdSend", amount: "12.500", nonce: undefined };
    expect(mayBeExecutionOf(depositoryAccount, payment, rules)).toBe(true);
    // The ledger may show the action in any format, so only a different nonce proves a different action.
    expect(mayBeExecutionOf(entry, payment, rules)).toBe(true);
    expect(mayBeExecutionOf({ ...entry, nonce: undefined }, payment, rules)).toBe(true);
    expect(mayBeExecutionOf({ ...entry, kind: "spotSend", nonce: undefined }, payment, rules)).toBe(true);
    expect(
      mayBeExecutionOf({ ...depositoryAccount, kind: "usdSend", nonce: undefined }, payment, rules),
    ).toBe(true);
    expect(mayBeExecutionOf({ ...entry, nonce: NOW - 6n }, payment, rules)).toBe(false);
    const largerEntry: LedgerTransfer = { ...entry, kind: "usdSend", amount: "12.51", nonce: undefined };
    expect(mayBeExecutionOf(largerEntry, payment, rules)).toBe(false);
    expect(mayBeExecutionOf({ ...depositoryAccount, user }, payment, rules)).toBe(false);
    expect(mayBeExecutionOf({ ...depositoryAccount, destination: user }, payment, rules)).toBe(false);
  }
});
