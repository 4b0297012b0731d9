import { quotedState, type RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import { someAddress, someTerms } from "../../../../test/support/terms.ts";
import type { EnginePolicy } from "../db/engine-policy.port.ts";
import { madeAtMs, waitBeyondLead } from "./fast-fill-deposit-deadline.ts";

const BITCOIN = 7;
const HOUR_MS = 3_600_000;
const CLOCK_TOLERANCE_MS = 120_000;
const NOW_MS = 1_700_000_000_000;
const PAY_BY_MS = NOW_MS + 600_000;
const depositAddress = { address: someAddress(), strict: false, recovery: someAddress() };

/** Both sides are one asset unless the request is between assets. */
function overlongWait(
  fillLeadMs: number | undefined,
  change: Partial<RequestTerms> & { readonly isSeen?: boolean; readonly isBetweenAssets?: boolean } = {},
) {
  const { isSeen = false, isBetweenAssets = false, ...termsChange } = change;
  const terms = someTerms({ fillDeadlineMs: PAY_BY_MS, ...termsChange });
  const currency = (_: number, address: string) => ({
    priceId: isBetweenAssets ? address : "usd",
  });
  const services = {
    chains: { currency },
    clock: { nowMs: () => NOW_MS },
    quotePolicy: { fillGraceSeconds: 900 },
    enginePolicy: { fillLeadMs, fastFillGraceMs: HOUR_MS } as EnginePolicy,
  } as unknown as Parameters<typeof waitBeyondLead>[0];
  const state = { ...quotedState("bridge"), ...(isSeen && { depositId: "1" }) };
  return waitBeyondLead(services, { terms, state });
}

const origin = (chainId: number) => ({ chainId, currency: someAddress(), amount: 100n });
/** Until the payment is due, and the app's grace. */
const PLAIN_MS = 600_000 + 900_000 + HOUR_MS;
/** Paid to an address: the sweep may take a day more. */
const swept = { depositAddress, payByMs: PAY_BY_MS, fillDeadlineMs: PAY_BY_MS + 24 * HOUR_MS };

test.each([
  ["a payment on an EVM chain", {}, PLAIN_MS],
  ["a payment on Bitcoin, which counts from its block", { origin: origin(BITCOIN) }, PLAIN_MS],
  ["a sweep on an EVM chain", swept, PLAIN_MS + 24 * HOUR_MS],
  ["a sweep on Bitcoin", { ...swept, origin: origin(BITCOIN) }, PLAIN_MS + 24 * HOUR_MS],
  ["a sweep whose deposit is in a block", { ...swept, isSeen: true }, PLAIN_MS],
] as const)("needs a lead as long as %s may take", (_, terms, waitsMs) => {
  expect(overlongWait(waitsMs + CLOCK_TOLERANCE_MS, terms)).toBeUndefined();
  expect(overlongWait(waitsMs + CLOCK_TOLERANCE_MS - 1, terms)).toMatchObject({
    waitsMs,
    leadMs: waitsMs - 1,
  });
  expect(overlongWait(undefined, terms), "nothing is settled").toBeUndefined();
});

test("a sweep must also come before the deposit of a fast fill between different assets is refunded", () => {
  const month = 30 * 24 * HOUR_MS;
  for (const lead of [month, undefined])
    expect(overlongWait(lead, { ...swept, isBetweenAssets: true })).toEqual({
      waitsMs: PLAIN_MS + 24 * HOUR_MS,
      leadMs: 24 * HOUR_MS,
      isSweepDue: true,
    });
  const dueNow = { ...swept, payByMs: NOW_MS, fillDeadlineMs: NOW_MS + 24 * HOUR_MS, isBetweenAssets: true };
  expect(overlongWait(month, dueNow), "however short its ttl").toMatchObject({ isSweepDue: true });
  expect(overlongWait(month, { ...dueNow, isSeen: true }), "its deposit is in a block").toBeUndefined();
  expect(
    overlongWait(month, { isBetweenAssets: true }),
    "the user pays in time, or the app pays",
  ).toBeUndefined();
});

test.each([
  ["the time of its block", "hypevm", 1_699_999_000n, 1_699_999_000_000],
  ["its block's time on Bitcoin, less the two hours that it may be ahead", "bvm", 1_700_007_200n, NOW_MS],
  ["now where the block's time is not known", "evm", undefined, NOW_MS],
] as const)("dates a deposit at %s", (_, vmType, timestamp, madeMs) => {
  expect(madeAtMs({ vmType }, timestamp === undefined ? {} : { timestamp }, NOW_MS)).toBe(madeMs);
});
