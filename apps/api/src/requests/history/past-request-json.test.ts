import { hexAddressFormat } from "../../../../../test/fakes/hex-address-format.ts";
import type { Hex } from "@causeway/domain";
import { formatTransactionId } from "@causeway/families";
import { mismatch } from "@causeway/service-kit";
import { requestsAnswer, requestsAnswerV2 } from "@causeway/wire";
import { expect, test } from "vitest";
import { aConnectedNonEvmChain, bitcoin, bytesOn, solana } from "../../../../../test/fakes/non-evm-chains.ts";
import { someTerms } from "../../../../../test/support/terms.ts";
import { createChainDirectory } from "../../chains/directory.adapter.ts";
import type { PastAmount, PastRequest, PastTransaction } from "./past-requests.port.ts";
import { addressFormatOf } from "../../chains/format-ids.ts";
import { pastRequestJson, pastRequestV2Json } from "./past-request-json.ts";
import { questionOf } from "./requests-question.route.ts";

// A refunded request from Solana to Bitcoin, in the form of both lists.

const [svm, bvm] = [aConnectedNonEvmChain("svm"), aConnectedNonEvmChain("bvm")];
const chains = createChainDirectory([], [svm, bvm]);
const format = addressFormatOf(chains);
const signature: Hex = `0x${"d1".repeat(64)}`;
const txid: Hex = `0x${"f1".repeat(32)}`;
const terms = someTerms({
  user: bytesOn("svm", solana.user),
  refundTo: bytesOn("svm", solana.user),
  recipient: bytesOn("bvm", bitcoin.user),
  origin: { chainId: svm.chain.id, currency: bytesOn("svm", solana.usdc), amount: 7n },
  destination: {
    chainId: bvm.chain.id,
    currency: bytesOn("bvm", bitcoin.native),
    expectedAmount: 5n,
    minimumAmount: 4n,
  },
});
const amountOn = (
  side: { readonly chainId: number; readonly currency: Hex },
  amount: bigint,
): PastAmount => ({
  chainId: side.chainId,
  currency: side.currency,
  configured: chains.currency(side.chainId, side.currency),
  amount,
});
const paid = amountOn(terms.origin, 7n);
const received = amountOn(terms.destination, 5n);
const transaction = (chainId: number, txHash: Hex, moved: PastTransaction["moved"]): PastTransaction => ({
  txHash,
  chainId,
  block: 9n,
  seenAtMs: 1_000,
  status: "success",
  feeWei: undefined,
  moved,
});
const past: PastRequest = {
  terms,
  solverChainId: undefined,
  status: "refund",
  sender: terms.user,
  depositAddress: undefined,
  requestType: "Crosschain Swap",
  features: [],
  updatedAtMs: 2_000,
  failReason: "SLIPPAGE",
  refundFailReason: undefined,
  failed: undefined,
  isFastFill: false,
  inTxs: [transaction(svm.chain.id, signature, [])],
  outTxs: [
    transaction(bvm.chain.id, txid, [
      { address: terms.recipient, currency: terms.destination.currency, difference: 5n },
    ]),
  ],
  quoted: { origin: { input: paid, output: paid }, destination: { input: received, output: received } },
  actual: undefined,
  delivered: undefined,
  refund: { amount: paid, recipient: terms.refundTo },
  appFees: undefined,
  paidFees: undefined,
  sponsored: undefined,
  deposit: {
    chainId: svm.chain.id,
    txHash: signature,
    block: 9n,
    depositor: terms.user,
    currency: terms.origin.currency,
    amount: 7n,
    depository: undefined,
    isConfirmed: true,
  },
  settlement: undefined,
};

const publicOnly = { showsAppData: false, showsAddressKey: false, showsAllCallData: false };

test("both lists format every account, currency and transaction in the format of its chain", () => {
  const json = pastRequestJson(past, publicOnly, format);
  const older = pastRequestV2Json(past, publicOnly, format);
  expect(mismatch(requestsAnswer, { requests: [json] })).toBeUndefined();
  expect(
    mismatch(requestsAnswerV2, {
      requests: [older],
      deprecation: { successor: "", sunset: "2026-01-01T00:00:00.000Z" },
    }),
  ).toBeUndefined();
  const text = formatTransactionId({ vmType: "svm" }, signature);
  const common = {
    user: solana.user,
    sender: solana.user,
    refundTo: solana.user,
    recipient: bitcoin.user,
    protocol: {
      deposit: { origin: { transactionId: text, depositor: solana.user, currency: solana.usdc } },
    },
  };
  expect(json).toMatchObject({
    ...common,
    data: {
      inTxs: [{ txHash: text }],
      outTxs: [
        {
          txHash: "f1".repeat(32),
          stateChanges: [{ address: bitcoin.user, change: { currency: bitcoin.native } }],
        },
      ],
      route: {
        quoted: {
          origin: { inputCurrency: { currency: { address: solana.usdc, symbol: "USDC" } } },
          destination: { outputCurrency: { currency: { address: bitcoin.native, symbol: "BTC" } } },
        },
      },
      refundCurrencyData: { currency: { address: solana.usdc }, recipient: solana.user },
    },
  });
  expect(older).toMatchObject({
    ...common,
    data: {
      inTxs: [{ hash: text }],
      outTxs: [{ hash: "f1".repeat(32) }],
      metadata: {
        sender: solana.user,
        recipient: bitcoin.user,
        currencyIn: { currency: { address: solana.usdc } },
        currencyOut: { currency: { address: bitcoin.native } },
      },
    },
  });
  // The stored bytes do not appear anywhere.
  for (const bytes of [terms.user, terms.recipient, terms.origin.currency, signature, txid])
    expect(JSON.stringify([json, older])).not.toContain(bytes);
});

test("finds requests by accounts and transactions in the format of their chains", () => {
  const conditionsFor = (query: object) =>
    questionOf({ sortBy: "createdAt", sortDirection: "desc", ...query }, undefined).conditions;
  expect(conditionsFor({ user: solana.user })).toEqual([{ kind: "is", field: "user", values: [terms.user] }]);
  expect(conditionsFor({ recipient: bitcoin.user })).toEqual([
    { kind: "is", field: "recipient", values: [terms.recipient] },
  ]);
  expect(conditionsFor({ depositTxHash: formatTransactionId({ vmType: "svm" }, signature) })).toEqual([
    { kind: "is", field: "depositTxHash", values: [signature] },
  ]);
  expect(conditionsFor({ fillTxHash: "f1".repeat(32) })).toEqual([
    { kind: "is", field: "fillTxHash", values: [txid] },
  ]);
  for (const term of [solana.user, bitcoin.user])
    expect(conditionsFor({ term })[0]).toMatchObject({ values: [expect.stringMatching(/^0x/)] });
  expect(() => conditionsFor({ depositTxHash: "f1" })).toThrow("depositTxHash has an invalid value");
});

test("lists omit call data above 1,024 bytes, and a request selected by id shows it", () => {
  const callDataIn = (bytes: number, showsAllCallData: boolean) => {
    const call = { to: terms.recipient, data: `0x${"ab".repeat(bytes)}`, value: 3n } as const;
    const withCalls: PastRequest = {
      ...past,
      failed: { txHash: signature, block: 9n, call: { from: terms.user, ...call } },
      outTxs: past.outTxs.map((tx) => ({ ...tx, call })),
    };
    const visibility = { ...publicOnly, showsAllCallData };
    const json = pastRequestJson(withCalls, visibility, format);
    const older = pastRequestV2Json(withCalls, visibility, format);
    expect(mismatch(requestsAnswer, { requests: [json] })).toBeUndefined();
    return [json, older].map(({ data }) => [data.outTxs[0]?.data, data.failedCallData]);
  };
  const calls = (data: object) => {
    const call = { to: terms.recipient, value: "3", ...data };
    return [1, 2].map(() => [call, { from: terms.user, ...call }]);
  };
  expect(callDataIn(1_024, false)).toEqual(calls({ data: `0x${"ab".repeat(1_024)}` }));
  expect(callDataIn(1_025, false)).toEqual(calls({}));
  expect(callDataIn(1_025, true)).toEqual(calls({ data: `0x${"ab".repeat(1_025)}` }));
});

test("lists features under the project's names and under the published names", () => {
  const visibility = { showsAppData: false, showsAddressKey: false, showsAllCallData: false };
  const features = (changes: Partial<PastRequest>): readonly string[] =>
    pastRequestJson({ ...past, ...changes }, visibility, hexAddressFormat).features;
  expect(features({ features: ["execution", "fast-fill"] })).toEqual([
    "execution",
    "fast-fill",
    "gasless_execution",
    "fast_fill",
  ]);
  const priced = { ...terms, gasTopup: {} as never, appFees: {} as never };
  expect(features({ terms: priced })).toEqual(["gas_top_up", "app_fees"]);
});
