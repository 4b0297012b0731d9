import type { Address, Hex, SponsorshipRules } from "@causeway/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rulesFromJson, rulesToJson, sponsorshipRules } from "./sponsorship-rules.ts";

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value): Hex => `0x${Buffer.from(value).toString("hex")}`);
const address: fc.Arbitrary<Address> = hex(20);
const usd = fc.bigInt({ min: 0n, max: 10n ** 33n - 1n });
const selectorRule = fc.oneof(
  hex(4).map((selector) => ({ selector })),
  fc.record({ selector: hex(4), target: address }),
);

const anyRules: fc.Arbitrary<SponsorshipRules> = fc.record(
  {
    dailyUsd: usd,
    perUserDailyUsd: usd,
    perTargetDailyUsd: fc.oneof(
      usd,
      fc.array(fc.tuple(address, usd)).map((pairs) => new Map(pairs)),
    ),
    allowTargets: fc.array(address),
    denyTargets: fc.array(address),
    allowSelectors: fc.array(selectorRule),
    denySelectors: fc.array(selectorRule),
    maxCallValueUsd: usd,
    maxHoldsUsd: usd,
    maxFastFillUsd: usd,
    lowBalanceWarningUsd: usd,
    allowUnsubmitted: fc.boolean(),
  },
  { requiredKeys: ["maxCallValueUsd"] },
);

test("rules survive JSON", () => {
  fc.assert(
    fc.property(anyRules, (rules) => {
      const text = JSON.stringify(rulesToJson(rules));
      expect(rulesFromJson(sponsorshipRules.parse(JSON.parse(text)))).toEqual(rules);
    }),
  );
});

test("an empty list is a rule, an absent one is not", () => {
  expect(rulesFromJson(sponsorshipRules.parse({ allowTargets: [] }))).toEqual({
    maxCallValueUsd: 0n,
    allowTargets: [],
  });
});

test("lower-cases addresses and selectors internally, regardless of the input", () => {
  const rules = sponsorshipRules.parse({
    denyTargets: [`0x${"AB".repeat(20)}`],
    perTargetDailyUsd: { [`0x${"CD".repeat(20)}`]: "1.5" },
    allowSelectors: ["0xA9059CBB", { selector: "0x095EA7B3", target: `0x${"EF".repeat(20)}` }],
  });
  expect(rulesFromJson(rules)).toEqual({
    maxCallValueUsd: 0n,
    denyTargets: [`0x${"ab".repeat(20)}`],
    perTargetDailyUsd: new Map([[`0x${"cd".repeat(20)}`, 15n * 10n ** 17n]]),
    allowSelectors: [{ selector: "0xa9059cbb" }, { selector: "0x095ea7b3", target: `0x${"ef".repeat(20)}` }],
  });
});

test.for([
  { dailyUsd: 5 },
  { dailyUsd: "-1" },
  { dailyUsd: "1e3" },
  { dailyUsd: "1.0000000000000000001" },
  { dailyUSD: "1" },
  { perTargetDailyUsd: { [`0x${"ab".repeat(19)}`]: "1" } },
  { perTargetDailyUsd: { [`0x${"ab".repeat(20)}`]: "1", [`0x${"AB".repeat(20)}`]: "2" } },
  { denyTargets: ["0x12"] },
  { allowSelectors: [{ selector: "0xa9059cbb", to: `0x${"ab".repeat(20)}` }] },
  { allowSelectors: "0xa9059cbb" },
])("refuses rules that are not fully understood: %j", (rules) => {
  expect(sponsorshipRules.safeParse(rules).success).toBe(false);
});
