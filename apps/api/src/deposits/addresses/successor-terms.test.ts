import { defaultFeePolicy, encodeFillContract, orderIdOf } from "@causeway/domain";
import { expect, test } from "vitest";
import { someAddress, someHash, someTerms } from "../../../../../test/support/terms.ts";
import { measuredQuoteGas } from "../../quotes/quote-gas.ts";
import { refundTerms, termsWithRefundTo } from "./successor-terms.ts";

const services = {
  random: { bytes32: someHash },
  quotePolicy: { ...defaultFeePolicy, gas: measuredQuoteGas, maxTtlSeconds: 3600, solverChainName: "home" },
  solver: someAddress(),
};

test("names the current solver and routers in orders for funds at an older deposit address", () => {
  const quotedTerms = someTerms();
  const former = encodeFillContract(someAddress());
  const { currency, amount } = quotedTerms.origin;
  const payment = { chainId: "one", currency, amount, weight: 1n };
  const refund = { chainId: "one", recipient: quotedTerms.user, currency, minimumAmount: 1n, deadline: 1 };
  const first = {
    ...quotedTerms,
    order: {
      ...quotedTerms.order,
      inputs: [{ payment, refunds: [{ ...refund, extraData: former }] }],
      output: { ...quotedTerms.order.output, extraData: former },
    },
  };
  const to = someAddress();
  const chain = { id: 1, name: "one", contracts: { router: someAddress() } };
  const destination = encodeFillContract(someAddress());
  const fillContracts = { origin: encodeFillContract(chain.contracts.router), destination };
  const funds = { chainId: 1, currency, amount, to, reason: "NO_QUOTES", valueUsd: 0n } as const;
  for (const terms of [
    termsWithRefundTo(services, first, fillContracts, to),
    refundTerms(services, first, chain, fillContracts, funds, first.createdAtMs),
  ]) {
    expect(terms.order).toMatchObject({ solver: services.solver, solverChainId: "home" });
    expect(terms.order.inputs[0]?.refunds[0]?.extraData).toBe(fillContracts.origin);
    expect(terms.order.output.extraData).toBe(destination);
    expect(terms.orderId).toBe(orderIdOf(terms.order));
  }
});
