import type { RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import { someAddress, someTerms } from "../../../../../test/support/terms.ts";
import { historyEntry, type HistoryEntry, type KnownName } from "./history-entry.ts";

const [native, wrapped, usdc, unnamed] = [someAddress(), someAddress(), someAddress(), someAddress()];
const names = new Map<string, KnownName>([
  [native, { asset: "eth", symbol: "ETH", wrapsNative: false }],
  [wrapped, { asset: "eth", symbol: "WETH", wrapsNative: true }],
  [usdc, { asset: "usdc", symbol: "USDC", wrapsNative: false }],
]);
const entryOf = (change: Partial<RequestTerms>, isFastFill = false): HistoryEntry =>
  historyEntry({ terms: someTerms(change), state: "deposited", isFastFill }, ({ address }) =>
    names.get(address),
  );
const paying = (chainId: number, currency = usdc): RequestTerms["origin"] => ({
  chainId,
  currency,
  amount: 1n,
});
const receiving = (chainId: number, currency = usdc): RequestTerms["destination"] => ({
  chainId,
  currency,
  expectedAmount: 1n,
  minimumAmount: 1n,
});

test.each<[string, Partial<RequestTerms>]>([
  ["Bridge", { origin: paying(1), destination: receiving(2) }],
  ["Bridge", { origin: paying(1, native), destination: receiving(2, wrapped) }],
  ["Crosschain Swap", { origin: paying(1, native), destination: receiving(2) }],
  // Two currencies without a known asset count as different assets.
  ["Crosschain Swap", { origin: paying(1, unnamed), destination: receiving(2, unnamed) }],
  ["Same-chain Swap", { origin: paying(1, native), destination: receiving(1) }],
  ["Wrap", { origin: paying(1, native), destination: receiving(1, wrapped) }],
  ["Unwrap", { origin: paying(1, wrapped), destination: receiving(1, native) }],
  ["Send", { kind: "send", origin: paying(1), destination: receiving(1) }],
  ["Call", { kind: "call", origin: paying(1), destination: receiving(1) }],
])("lists a %s", (requestType, change) => {
  expect(entryOf(change).requestType).toBe(requestType);
});

test("lists what the user pays, not what a swap before the deposit turns it into", () => {
  const terms = { origin: paying(1), input: { currency: native, amount: 2n }, destination: receiving(2) };
  expect(entryOf(terms)).toMatchObject({
    currencyIn: native,
    symbolIn: "eth",
    currencyOut: usdc,
    symbolOut: "usdc",
    requestType: "Crosschain Swap",
    features: ["origin-swap"],
  });
});

test("lists features in their documented order", () => {
  const terms = someTerms({ kind: "call", destination: { ...receiving(2), paidFrom: native } });
  expect(historyEntry({ terms, state: "accepted", isFastFill: true }, () => undefined).features).toEqual([
    "fast-fill",
    "execution",
    "destination-swap",
  ]);
});

test("rounds USD down to millionths and limits it to the range of its column", () => {
  expect(entryOf({ inputUsd: 1_999_999_999_999n, appFeesUsd: 5n * 10n ** 12n })).toMatchObject({
    amountUsd: 1n,
    appFeesUsd: 5n,
  });
  expect(entryOf({ inputUsd: 10n ** 60n }).amountUsd).toBe(9n * 10n ** 18n);
});

test("removes characters from a referrer that Postgres cannot store", () => {
  expect(entryOf({ referrer: 'shop \u0000\ud800"x"' }).referrer).toBe('shop "x"');
});
