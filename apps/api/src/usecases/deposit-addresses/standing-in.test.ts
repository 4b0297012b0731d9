import { defaultFeePolicy, orderIdOf } from "@causeway/domain";
import { expect, test } from "vitest";
import { someAddress, someHash, someTerms } from "../../../../../test/support/terms.ts";
import { measuredQuoteGas } from "../quote-gas.ts";
import { refundTerms, sameWithRefundTo } from "./standing-in.ts";

const services = {
  random: { bytes32: someHash },
  quotePolicy: { ...defaultFeePolicy, gas: measuredQuoteGas, maxTtlSeconds: 3600, solverChainName: "home" },
  solver: someAddress(),
};

test("orders made for money at an address name the current solver, whoever the solver was when the address was given out", () => {
  const first = someTerms();
  const to = someAddress();
  const chain = { id: 1, name: "one", contracts: { router: someAddress() } };
  const { currency, amount } = first.origin;
  const found = { chainId: 1, currency, amount, to, reason: "NO_QUOTES", valueUsd: 0n } as const;
  for (const terms of [
    sameWithRefundTo(services, first, to),
    refundTerms(services, first, chain, found, first.createdAtMs),
  ]) {
    expect(terms.order).toMatchObject({ solver: services.solver, solverChainId: "home" });
    expect(terms.orderId).toBe(orderIdOf(terms.order));
  }
});
