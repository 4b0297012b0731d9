import type { Address, Hex, RequestTerms } from "@causeway/domain";
import { randomBytes } from "node:crypto";

export const someHash = (): Hex => `0x${randomBytes(32).toString("hex")}`;
export const someAddress = (): Address => `0x${randomBytes(20).toString("hex")}`;

/** The terms of a request as a quote might fix them: 100 units of one currency for 99 of another. */
export function someTerms(change: Partial<RequestTerms> = {}): RequestTerms {
  const user = someAddress();
  const [currency, received] = [someAddress(), someAddress()];
  const createdAtMs = 1_700_000_000_000;
  return {
    requestId: someHash(),
    orderId: someHash(),
    kind: "bridge",
    tradeType: "EXACT_INPUT",
    user,
    recipient: user,
    refundTo: user,
    origin: { chainId: 1, currency, amount: 100n },
    destination: { chainId: 2, currency: received, expectedAmount: 99n, minimumAmount: 98n },
    inputUsd: 100n * 10n ** 18n,
    explicitDeposit: true,
    createdAtMs,
    firmUntilMs: createdAtMs + 60_000,
    fillDeadlineMs: createdAtMs + 3_600_000,
    referrer: undefined,
    forceRefund: false,
    order: {
      version: "v1",
      solverChainId: "one",
      solver: someAddress(),
      salt: someHash(),
      inputs: [],
      output: { chainId: "two", payments: [], calls: [], deadline: 1_700_003_600, extraData: "0x" },
      fees: [],
    },
    ...change,
  };
}
