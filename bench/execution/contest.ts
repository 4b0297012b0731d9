import type { Hex } from "viem";
import { median } from "../median.ts";
import type { InclusionWatch } from "./inclusions.ts";

/** Accepts operations and gets them included. */
export interface Contender {
  readonly name: string;
  /**
   * Prepares this many operations that were never sent: building and signing are the
   * client's work, not the contender's.
   */
  prepare(count: number): Promise<readonly PreparedOperation[]>;
}

export interface PreparedOperation {
  readonly hash: Hex;
  /** Resolves once the operation is accepted. */
  readonly send: () => Promise<void>;
}

export interface ContenderFigures {
  /** Accepted operations per second, one figure per round. */
  readonly acceptedPerSecond: readonly number[];
  /** The same operations, until the last one of a round is mined, including the wait for that block. */
  readonly includedPerSecond: readonly number[];
  /** From sending to the block, in ms: medians of the rounds, at a steady pace that loads neither side. */
  readonly inclusionMs: readonly number[];
}

export interface ContestOptions {
  readonly rounds: number;
  /** Operations of a round under load. */
  readonly operations: number;
  readonly connections: number;
  /** Operations of a round at a steady pace, and the pause between two. */
  readonly paced: number;
  readonly paceMs: number;
}

/** Conditions that are the same for both. */
export interface Arena {
  readonly watch: InclusionWatch;
  /** Restores the gas price: full blocks raise it for the next measurement. */
  readonly calm: () => Promise<void>;
}

const INCLUDED_WITHIN_MS = 60_000;

/**
 * Alternates between the contenders, with a different first one each round, on one node that mines for both.
 */
export async function contest(
  contenders: readonly Contender[],
  { watch, calm }: Arena,
  options: ContestOptions,
): Promise<Map<string, ContenderFigures>> {
  const loads = new Map(contenders.map(({ name }) => [name, [] as Load[]]));
  const waits = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < options.rounds; round++)
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      await calm();
      loads.get(contender.name)?.push(await measureUnderLoad(contender, watch, options));
      await calm();
      waits.get(contender.name)?.push(await measureAtEvenPace(contender, watch, options));
    }
  return new Map(
    contenders.map(({ name }) => [
      name,
      {
        acceptedPerSecond: (loads.get(name) ?? []).map(({ accepted }) => accepted),
        includedPerSecond: (loads.get(name) ?? []).map(({ included }) => included),
        inclusionMs: waits.get(name) ?? [],
      },
    ]),
  );
}

/** Operations per second of one round. */
interface Load {
  readonly accepted: number;
  readonly included: number;
}

async function measureUnderLoad(
  contender: Contender,
  watch: InclusionWatch,
  { operations, connections }: ContestOptions,
): Promise<Load> {
  const prepared = await contender.prepare(operations);
  const queue = prepared.values();
  const startedAtMs = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (const { send } of queue) await send();
    }),
  );
  const perSecond = (endedAtMs: number): number => operations / ((endedAtMs - startedAtMs) / 1_000);
  const acceptedAtMs = performance.now();
  // Accepting without executing would not count, and the next round must start with an idle node.
  const seenAtMs = await Promise.all(prepared.map(async ({ hash }) => await untilIncluded(watch, hash)));
  return { accepted: perSecond(acceptedAtMs), included: perSecond(Math.max(...seenAtMs)) };
}

async function measureAtEvenPace(
  contender: Contender,
  watch: InclusionWatch,
  { paced, paceMs }: ContestOptions,
): Promise<number> {
  const tookMs: number[] = [];
  const pending = (await contender.prepare(paced)).map(async ({ hash, send }, n) => {
    await new Promise((resolve) => setTimeout(resolve, n * paceMs));
    const sentAtMs = performance.now();
    await send();
    tookMs.push((await untilIncluded(watch, hash)) - sentAtMs);
  });
  await Promise.all(pending);
  return median(tookMs);
}

async function untilIncluded(watch: InclusionWatch, hash: Hex): Promise<number> {
  const giveUpAtMs = performance.now() + INCLUDED_WITHIN_MS;
  for (;;) {
    const seenAtMs = watch.seenAtMs(hash);
    if (seenAtMs !== undefined) return seenAtMs;
    if (performance.now() > giveUpAtMs) throw new Error(`operation ${hash} was accepted but never mined`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
