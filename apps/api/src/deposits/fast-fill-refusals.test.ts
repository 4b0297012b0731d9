import type { RequestTerms } from "@causeway/domain";
import { feeSponsorshipOf, quotedState } from "@causeway/domain";
import { expect, test } from "vitest";
import { someAddress, someTerms } from "../../../../test/support/terms.ts";
import { standingOf } from "./fast-fill-refusals.ts";

test("refuses to fast fill a request whose fill swaps, and says why", () => {
  const terms = someTerms();
  const nowMs = terms.createdAtMs;
  expect(standingOf({ terms, state: quotedState("bridge") }, nowMs)).toBe("open");
  const swapsInFill = { ...terms, destination: { ...terms.destination, paidFrom: someAddress() } };
  expect(() => standingOf({ terms: swapsInFill, state: quotedState("bridge") }, nowMs)).toThrow(
    expect.objectContaining({ code: "FAST_FILL_REFUSED" }) as Error,
  );
  expect(standingOf({ terms: swapsInFill, state: { ...quotedState("bridge"), name: "filled" } }, nowMs)).toBe(
    "filled",
  );
});

const sponsorship = feeSponsorshipOf(
  {
    wallet: someAddress(),
    selected: new Set(["execution"] as const),
    maxUsd: undefined,
    cap: undefined,
    fixedRate: undefined,
  },
  { execution: 1n, isRent: false, service: 0n, app: 0n, swap: 0n, sponsored: 1n },
  { decimals: 6, priceUsd: 10n ** 18n },
);

test.each<Partial<RequestTerms>>([
  { appFees: { chainId: 1, currency: someAddress(), fees: [] } },
  { sponsorship },
  { gasTopup: { amount: 1n } },
])("refuses to fast fill requests with app fees, a sponsor or a gas top-up", (change) => {
  const terms = someTerms(change);
  expect(() => standingOf({ terms, state: quotedState("bridge") }, terms.createdAtMs)).toThrow(
    expect.objectContaining({
      code: "FAST_FILL_REFUSED",
      facts: expect.objectContaining({ data: { rule: "othersShare" } }) as unknown,
    }) as Error,
  );
});
