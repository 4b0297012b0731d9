import fc from "fast-check";
import { expect, test } from "vitest";
import { someHash } from "../../../../test/support/terms.ts";
import type { ExecutionGas } from "./hub.port.ts";
import { nextBatch, roomFor, type Weighed } from "./next-batch.ts";

const LIMIT = 1_060_000n;

function weighed(gas: bigint | "tooLarge", apart = false): Weighed {
  const needed: ExecutionGas = gas === "tooLarge" ? { kind: gas } : { kind: "needs", gas };
  const idempotencyKey = someHash();
  return {
    gas: needed,
    execution: {
      id: idempotencyKey,
      idempotencyKey,
      kind: "deposit",
      actions: [],
      signature: "0x",
      state: "attested",
      reason: undefined,
      apart,
    },
  };
}

/** Indexes in `all` of the batched and of the oversized executions. */
function chosen(all: readonly Weighed[]): { carried: number[]; oversized: number[]; gasLimit: bigint } {
  const batch = nextBatch(all, LIMIT);
  return {
    carried: batch.executions.map((one) => all.findIndex(({ execution }) => execution === one)),
    oversized: batch.oversized.map((one) => all.indexOf(one)),
    gasLimit: batch.gasLimit,
  };
}

test("fills a transaction in order up to its gas and leaves the rest to the next", () => {
  const all = [400_000n, 500_000n, 200_000n, 50_000n].map((gas) => weighed(gas));
  expect(chosen(all)).toEqual({ carried: [0, 1], oversized: [], gasLimit: 960_000n });
});

test("skips executions that exceed a transaction by themselves", () => {
  const all = [weighed(1_000_001n), weighed(600_000n), weighed("tooLarge"), weighed(400_000n)];
  expect(chosen(all)).toEqual({ carried: [1, 3], oversized: [0, 2], gasLimit: LIMIT });
});

test("carries an execution of a refused transaction alone", () => {
  expect(chosen([weighed(1n, true), weighed(1n)]).carried).toEqual([0]);
  expect(chosen([weighed(1n), weighed(1n, true), weighed(1n)]).carried).toEqual([0]);
});

test("never exceeds the limit and never skips an execution that fits", () => {
  const anything = fc.array(fc.tuple(fc.bigInt(1n, 2_000_000n), fc.boolean()), { maxLength: 20 });
  fc.assert(
    fc.property(anything, fc.bigInt(0n, 2_000_000n), (parts, limit) => {
      const all = parts.map(([gas, apart]) => weighed(gas, apart));
      const { executions, gasLimit, oversized } = nextBatch(all, limit);
      const fitting = all.filter((one) => !oversized.includes(one)).map(({ execution }) => execution);
      expect(executions).toEqual(fitting.slice(0, executions.length));
      expect(executions.length > 0).toBe(fitting.length > 0);
      if (executions.length > 0) expect(gasLimit).toBeLessThanOrEqual(limit);
      for (const { gas } of oversized) expect(gas.kind === "needs" && gas.gas > roomFor(limit)).toBe(true);
    }),
  );
});
