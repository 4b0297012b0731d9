import fc from "fast-check";
import { expect, test } from "vitest";
import { someHash } from "../../../../test/support/terms.ts";
import type { ExecutionGas } from "./hub.port.ts";
import { nextBatch, gasForExecutions, type EstimatedExecution } from "./next-batch.ts";

const LIMIT = 1_060_000n;

function anExecution(gas: bigint | "tooLarge", apart = false): EstimatedExecution {
  const executionGas: ExecutionGas = gas === "tooLarge" ? { kind: gas } : { kind: "needs", gas };
  const idempotencyKey = someHash();
  return {
    gas: executionGas,
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
function chooseBatch(all: readonly EstimatedExecution[]): {
  carried: number[];
  oversized: number[];
  gasLimit: bigint;
} {
  const batch = nextBatch(all, LIMIT);
  return {
    carried: batch.executions.map((batched) => all.findIndex(({ execution }) => execution === batched)),
    oversized: batch.oversized.map((oversized) => all.indexOf(oversized)),
    gasLimit: batch.gasLimit,
  };
}

test("fills a transaction in order up to its gas and leaves the rest to the next", () => {
  const all = [400_000n, 500_000n, 200_000n, 50_000n].map((gas) => anExecution(gas));
  expect(chooseBatch(all)).toEqual({ carried: [0, 1], oversized: [], gasLimit: 960_000n });
});

test("skips executions that exceed a transaction by themselves", () => {
  const all = [
    anExecution(1_000_001n),
    anExecution(600_000n),
    anExecution("tooLarge"),
    anExecution(400_000n),
  ];
  expect(chooseBatch(all)).toEqual({ carried: [1, 3], oversized: [0, 2], gasLimit: LIMIT });
});

test("carries an execution of a refused transaction alone", () => {
  expect(chooseBatch([anExecution(1n, true), anExecution(1n)]).carried).toEqual([0]);
  expect(chooseBatch([anExecution(1n), anExecution(1n, true), anExecution(1n)]).carried).toEqual([0]);
});

test("never exceeds the limit and never skips an execution that fits", () => {
  const anything = fc.array(fc.tuple(fc.bigInt(1n, 2_000_000n), fc.boolean()), { maxLength: 20 });
  fc.assert(
    fc.property(anything, fc.bigInt(0n, 2_000_000n), (parts, limit) => {
      const all = parts.map(([gas, apart]) => anExecution(gas, apart));
      const { executions, gasLimit, oversized } = nextBatch(all, limit);
      const fitting = all
        .filter((estimate) => !oversized.includes(estimate))
        .map(({ execution }) => execution);
      expect(executions).toEqual(fitting.slice(0, executions.length));
      expect(executions.length > 0).toBe(fitting.length > 0);
      if (executions.length > 0) expect(gasLimit).toBeLessThanOrEqual(limit);
      for (const { gas } of oversized)
        expect(gas.kind === "needs" && gas.gas > gasForExecutions(limit)).toBe(true);
    }),
  );
});
