import { expect, test } from "vitest";
import { planMix, type SoakCurrency } from "./mix.ts";

const currencies: readonly SoakCurrency[] = [
  { symbol: "ETH", address: `0x${"0".repeat(40)}`, decimals: 18, usdCents: 250_000n },
  { symbol: "USDC", address: `0x${"1".repeat(40)}`, decimals: 6, usdCents: 100n },
  { symbol: "TST", address: `0x${"2".repeat(40)}`, decimals: 18, usdCents: 50n },
];
const options = { requests: 200, seed: 1, spreadMs: 20_000, currencies };
const plans = planMix(options);

test("the same seed plans the same requests, another seed others", () => {
  expect(planMix(options)).toEqual(plans);
  expect(planMix({ ...options, seed: 2 })).not.toEqual(plans);
});

test("spreads the starts evenly over the given time", () => {
  const starts = plans.map(({ startAfterMs }) => startAfterMs);
  expect(starts.slice(0, 3)).toEqual([0, 100, 200]);
  expect(Math.max(...starts)).toBe(19_900);
});

test("no user pays twice on one chain", () => {
  const uses = plans.map(({ user, origin }) => `${user} ${origin}`);
  expect(new Set(uses).size).toBe(uses.length);
});

test("plans everything that a run must cover", () => {
  const share = (matches: (plan: (typeof plans)[number]) => boolean): number => plans.filter(matches).length;
  expect(share(({ kind }) => kind === "send")).toBeGreaterThan(8);
  expect(share(({ kind }) => kind === "swap")).toBeGreaterThan(2);
  for (const origin of [0, 1]) expect(share((plan) => plan.origin === origin)).toBeGreaterThan(80);
  for (const { symbol } of currencies) expect(share(({ pay }) => pay.symbol === symbol)).toBeGreaterThan(30);
  for (const type of ["EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"])
    expect(share(({ tradeType }) => tradeType === type)).toBeGreaterThan(40);
  expect(share(({ explicitDeposit }) => !explicitDeposit)).toBeGreaterThan(15);
  expect(share(({ reports }) => reports)).toBeGreaterThan(70);
  expect(share(({ pay, receive }) => pay.symbol !== receive.symbol)).toBeGreaterThan(40);
});

test("a direct payment stays on its chain and in its currency, and a native deposit is always explicit", () => {
  for (const plan of plans) {
    if (plan.kind === "send") expect([plan.destination, plan.receive]).toEqual([plan.origin, plan.pay]);
    if (plan.kind === "send") expect(plan.receiver).not.toBe("self");
    if (plan.kind === "bridge") expect(plan.destination).not.toBe(plan.origin);
    if (plan.pay.symbol === "ETH") expect(plan.explicitDeposit).toBe(true);
  }
});

test("the value of an amount is within its band, in the currency that the trade type names", () => {
  for (const { tradeType, amount, pay, receive } of plans) {
    const currency = tradeType === "EXACT_INPUT" ? pay : receive;
    const cents = (amount * currency.usdCents) / 10n ** BigInt(currency.decimals);
    expect(cents >= 499n && cents <= 3_000_001n).toBe(true);
  }
});
