import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultFeePolicy, type PairClass } from "./fee-policy.ts";
import { coveredBps, routeSlippage } from "./covered-price-move.ts";

const pairClass = fc.constantFrom<PairClass[]>("sameAsset", "wrap", "stable", "major", "minor");
const bps = fc.integer({ min: 0, max: 10_000 });
const byClass = fc.record({ sameAsset: bps, wrap: bps, stable: bps, major: bps, minor: bps });
const tradeType = fc.constantFrom("EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT" as const);

test("between two assets, never covers more than the fee or the policy's bound", () => {
  fc.assert(
    fc.property(pairClass, bps, byClass, (pair, honorBps, serviceBps) => {
      const covered = coveredBps({ honorBps, serviceBps }, pair);
      expect(covered).toBeLessThanOrEqual(honorBps);
      if (pair === "sameAsset" || pair === "wrap") expect(covered).toBe(honorBps);
      else expect(covered).toBeLessThanOrEqual(serviceBps[pair]);
    }),
  );
});

test("divides the client's slippage without losing a basis point", () => {
  fc.assert(
    fc.property(bps, tradeType, pairClass, bps, bps, (clientBps, type, pair, origin, destination) => {
      const split = routeSlippage(defaultFeePolicy, clientBps, type, pair, { origin, destination });
      expect(split.origin + split.destination).toBe(clientBps);
      expect(Math.min(split.origin, split.destination)).toBeGreaterThanOrEqual(0);
    }),
  );
});

test("chooses the automatic slippage up to 100 %, and none for the fill of an exact output", () => {
  fc.assert(
    fc.property(tradeType, pairClass, bps, bps, (type, pair, origin, destination) => {
      const { automaticSlippageBps } = defaultFeePolicy;
      const split = routeSlippage(defaultFeePolicy, undefined, type, pair, { origin, destination });
      expect(split.origin).toBe(origin);
      expect(split.destination).toBe(
        type === "EXACT_OUTPUT" ? 0 : Math.min(automaticSlippageBps[pair] + destination, 10_000 - origin),
      );
    }),
  );
});
