import { assert, array, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import type { Hex } from "@causeway/domain";
import type { BlockRef } from "../port.ts";
import { extendTrail, type TrailStep } from "./block-trail.ts";

function block(number: number, fork: number, parent: BlockRef | undefined): BlockRef {
  const hash = (text: string): Hex => `0x${text.padStart(64, "0")}`;
  return {
    number: BigInt(number),
    hash: hash(`${number.toString(16)}${fork.toString(16).padStart(8, "0")}`),
    parentHash: parent?.hash ?? hash("0"),
    timestamp: BigInt(number),
    baseFeePerGas: 1n,
  };
}

/** A chain of `length` blocks on top of `base`. */
function grow(base: readonly BlockRef[], length: number, fork: number): BlockRef[] {
  const chain = [...base];
  for (let added = 0; added < length; added++) {
    const tip = chain.at(-1);
    chain.push(block(tip === undefined ? 10 : Number(tip.number) + 1, fork, tip));
  }
  return chain;
}

/** Runs the steps like a caller, and provides the requested headers. */
function extendFully(
  trail: readonly BlockRef[],
  chain: readonly BlockRef[],
): Exclude<TrailStep, { kind: "needs" }> {
  const head = chain.at(-1);
  if (head === undefined) throw new Error("an empty chain has no head");
  const fetched = new Map<Hex, BlockRef>();
  for (;;) {
    const step = extendTrail(trail, head, fetched);
    if (step.kind !== "needs") return step;
    expect(fetched.has(step.hash)).toBe(false);
    const requested = chain.find(({ hash }) => hash === step.hash);
    expect(requested?.number).toBe(step.number);
    if (requested !== undefined) fetched.set(requested.hash, requested);
  }
}

function apply(trail: readonly BlockRef[], step: TrailStep): BlockRef[] {
  if (step.kind === "unchanged" || step.kind === "needs") return [...trail];
  const from = step.orphanedFrom;
  return [...trail.filter(({ number }) => from === undefined || number < from), ...step.append];
}

test("the first head starts the trail", () => {
  const [head] = grow([], 1, 1);
  expect(head && extendTrail([], head)).toEqual({ kind: "extends", orphanedFrom: undefined, append: [head] });
});

test("a head that follows the tip needs no other header and orphans nothing", () => {
  const chain = grow([], 4, 1);
  expect(extendFully(chain.slice(0, 3), chain)).toEqual({
    kind: "extends",
    orphanedFrom: undefined,
    append: chain.slice(3),
  });
});

test("a block of equal height with another hash replaces the tip", () => {
  const chain = grow([], 3, 1);
  const fork = grow(chain.slice(0, 2), 1, 2);
  expect(extendFully(chain, fork)).toEqual({ kind: "extends", orphanedFrom: 12n, append: fork.slice(2) });
});

test("a lower head of another fork orphans the blocks above it", () => {
  const chain = grow([], 5, 1);
  const fork = grow(chain.slice(0, 2), 1, 2);
  expect(extendFully(chain, fork)).toEqual({ kind: "extends", orphanedFrom: 12n, append: fork.slice(2) });
});

test("ignores a head that is in the trail already", () => {
  const chain = grow([], 5, 1);
  expect(extendFully(chain, chain.slice(0, 3))).toEqual({ kind: "unchanged" });
});

test("ignores a lagging node's head below the trail", () => {
  const chain = grow([], 5, 1);
  expect(extendFully(chain.slice(3), chain.slice(0, 3)).kind).toBe("unchanged");
});

test("reports a reorg below the trail as orphaning the whole trail", () => {
  const chain = grow([], 6, 1);
  const fork = grow(chain.slice(0, 1), 6, 2);
  const step = extendFully(chain.slice(3), fork);
  expect(step).toEqual({ kind: "detached", orphanedFrom: 13n, append: fork.slice(3) });
});

test("refuses a header whose height contradicts its child", () => {
  const chain = grow([], 6, 1);
  const [tip, parent] = [chain[5], chain[4]];
  if (tip === undefined || parent === undefined) throw new Error("no blocks");
  const lie = { ...parent, number: 99n };
  expect(() => extendTrail(chain.slice(0, 3), tip, new Map([[parent.hash, lie]]))).toThrow(RangeError);
});

test("for any reorgs, the trail stays linked and ends with the chain of the head", () => {
  const reorgs = array(record({ depth: integer({ min: 0, max: 8 }), length: integer({ min: 1, max: 6 }) }), {
    minLength: 1,
    maxLength: 30,
  });
  assert(
    property(reorgs, integer({ min: 0, max: 5 }), (moves, forgotten) => {
      let chain = grow([], 12, 0);
      let trail = chain.slice(forgotten);
      for (const [index, { depth, length }] of moves.entries()) {
        const before = trail;
        chain = grow(chain.slice(0, Math.max(1, chain.length - depth)), length, index + 1);
        const step = extendFully(trail, chain);
        if ((chain.at(-1)?.number ?? 0n) < (trail[0]?.number ?? 0n)) {
          expect(step.kind).toBe("unchanged");
          continue;
        }
        trail = apply(trail, step);
        const lowest = trail[0]?.number ?? 0n;
        expect(trail).toEqual(chain.filter(({ number }) => number >= lowest));
        if (step.kind === "unchanged") throw new Error("a new head always changes the trail");
        // Exactly the blocks that left the chain are called orphaned.
        const orphaned = before.filter(({ hash }) => chain.every((candidate) => candidate.hash !== hash));
        expect(step.orphanedFrom).toBe(orphaned[0]?.number);
      }
    }),
    { numRuns: 200 },
  );
});
