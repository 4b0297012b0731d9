import type { Hex } from "@causeway/domain";
import { formatTransactionId } from "@causeway/families";
import { expect, test } from "vitest";
import { aConnectedNonEvmChain, bitcoin, bytesOn, solana } from "../../../../../test/fakes/non-evm-chains.ts";
import { someTerms } from "../../../../../test/support/terms.ts";
import { createChainDirectory } from "../../chains/directory.adapter.ts";
import type { RequestStory } from "./request-history.port.ts";
import { addressFormatOf } from "../../chains/format-ids.ts";
import { formatTrace } from "./format-trace.ts";

const [svm, bvm] = [aConnectedNonEvmChain("svm"), aConnectedNonEvmChain("bvm")];
const format = addressFormatOf(createChainDirectory([], [svm, bvm]));
const depositTx: Hex = `0x${"d1".repeat(64)}`;
const fillTx: Hex = `0x${"f1".repeat(32)}`;
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
const story = {
  terms,
  deposits: [
    {
      chainId: svm.chain.id,
      depositor: terms.user,
      sender: bytesOn("svm", solana.solver),
      currency: terms.origin.currency,
      txHash: depositTx,
    },
  ],
  inTxHashes: [depositTx],
  txHashes: [fillTx],
  refundTxHashes: [],
} as unknown as RequestStory;

const formatFacts = (facts: Record<string, unknown>) =>
  formatTrace([{ atMs: 1, kind: "event", facts }], story, format)[0]?.facts;

test("formats a request's accounts and transactions in the format of their chains, wherever they occur in an entry", () => {
  expect(
    formatFacts({
      user: terms.user,
      origin: terms.origin,
      destination: terms.destination,
      noted: [{ to: terms.recipient }, depositTx],
      txHash: fillTx,
      sender: bytesOn("svm", solana.solver),
    }),
  ).toEqual({
    user: solana.user,
    origin: { chainId: svm.chain.id, currency: solana.usdc, amount: 7n },
    destination: {
      chainId: bvm.chain.id,
      currency: bitcoin.native,
      expectedAmount: 5n,
      minimumAmount: 4n,
    },
    noted: [{ to: bitcoin.user }, formatTransactionId({ vmType: "svm" }, depositTx)],
    txHash: "f1".repeat(32),
    sender: solana.solver,
  });
});

test("leaves values unchanged that are not an account or transaction of the request", () => {
  const facts = { orderId: terms.orderId, amount: 7n, n: 3, reason: undefined, none: null };
  expect(formatFacts(facts)).toEqual(facts);
});

test("formats a currency in the format of the chain in the same entry, because native currencies share their bytes", () => {
  const native = bytesOn("bvm", bitcoin.native);
  expect(formatFacts({ chainId: 5, currency: native })).toEqual({ chainId: 5, currency: native });
  expect(formatFacts({ chainId: bvm.chain.id, paysCurrency: native })).toEqual({
    chainId: bvm.chain.id,
    paysCurrency: bitcoin.native,
  });
});
