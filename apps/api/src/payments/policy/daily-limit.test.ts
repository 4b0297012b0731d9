import fc from "fast-check";
import { expect, test } from "vitest";
import { judgeValue } from "./daily-limit.ts";
import { judgeFee } from "./lane-limits.ts";

const USD = 10n ** 18n;

test("moves at most the limit in a day, regardless of how payments are split", () => {
  fc.assert(
    fc.property(
      fc.array(fc.bigInt(0n, 40n * USD), { maxLength: 30 }),
      fc.bigInt(0n, 100n * USD),
      (values, dayUsd) => {
        let spent = 0n;
        const limits = { transactionUsd: 30n * USD, dayUsd, maxFeePerGasWei: undefined };
        for (const usd of values) {
          const refusal = judgeValue(usd, spent, limits);
          if (refusal === undefined) spent += usd;
          expect(refusal === undefined).toBe(
            usd <= 30n * USD && (refusal?.rule === "day" ? false : spent <= dayUsd),
          );
        }
        expect(spent).toBeLessThanOrEqual(dayUsd);
      },
    ),
  );
});

test("allows everything without limits, and refuses an unknown value with a limit", () => {
  const none = { transactionUsd: undefined, dayUsd: undefined, maxFeePerGasWei: undefined };
  expect(judgeValue(undefined, 0n, none)).toBeUndefined();
  expect(judgeValue(undefined, 0n, { ...none, dayUsd: 1n })?.rule).toBe("price");
  expect(judgeValue(10n ** 16n + 1n, 0n, { ...none, transactionUsd: 10n ** 16n })).toEqual({
    rule: "transaction",
    found: "$0.02",
    limit: "at most $0.01 per transaction",
  });
  expect(judgeFee(5n, none)).toBeUndefined();
  expect(judgeFee(5n, { ...none, maxFeePerGasWei: 5n })).toBeUndefined();
  expect(judgeFee(6n, { ...none, maxFeePerGasWei: 5n })?.rule).toBe("fee");
});
