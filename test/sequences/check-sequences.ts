import fc from "fast-check";
import type { Action } from "./action.ts";
import { sequences } from "./random-actions.ts";
import { runSequence } from "./run-sequence.ts";
import type { NodeKind } from "./sequence-chain.ts";
import type { SequenceHome } from "./world.ts";

export interface SequenceOptions {
  readonly runs: number;
  readonly seed: number;
  /**
   * The place of one sequence among those of the seed, as printed with a failure. Runs only that sequence.
   */
  readonly path?: string | undefined;
  /** Names from `focusNames` that occur more often. */
  readonly focus?: readonly string[] | undefined;
  /** No new sequence begins after this many ms. The number of runs may then be lower. */
  readonly timeLimitMs?: number | undefined;
  readonly onRun?: (() => void) | undefined;
}

export interface SequenceFailure {
  readonly seed: number;
  readonly path: string;
  readonly nodes: NodeKind;
  readonly focus: readonly string[];
  /** The shortest sequence found that breaks the same kind of rule. */
  readonly actions: readonly Action[];
  readonly reason: string;
}

export interface SequenceReport {
  readonly runs: number;
  readonly failure: SequenceFailure | undefined;
}

/** Maximum number of actions in a sequence. */
const MAX_ACTIONS = 12;

/**
 * Runs random sequences one after the other until one breaks an invariant. Then searches for the shortest
 * sequence that still breaks it.
 */
export async function checkSequences(
  home: SequenceHome,
  { runs, seed, path, focus = [], timeLimitMs, onRun }: SequenceOptions,
): Promise<SequenceReport> {
  const endMs = performance.now() + (timeLimitMs ?? Number.POSITIVE_INFINITY);
  let ran = 0;
  const property = fc.asyncProperty(sequences(MAX_ACTIONS, new Set(focus)), async (actions) => {
    // The first sequence always runs, because on a busy machine it may exceed the limit.
    if (ran > 0 && performance.now() > endMs) return;
    ran++;
    await runSequence(home, actions);
    onRun?.();
  });
  const result = await fc.check(property, {
    numRuns: runs,
    seed,
    ...(path !== undefined && { path }),
  });
  if (!result.failed) return { runs: ran, failure: undefined };
  const reason =
    result.errorInstance instanceof Error
      ? (result.errorInstance.stack ?? result.errorInstance.message)
      : "unknown";
  return {
    runs: ran,
    failure: {
      seed: result.seed,
      nodes: home.nodes.kind,
      focus,
      path: result.counterexamplePath ?? "",
      actions: result.counterexample?.[0] ?? [],
      reason,
    },
  };
}

/** Describes a failure, and how to repeat it. */
export function failureText({ seed, path, nodes, focus, actions, reason }: SequenceFailure): string {
  const options = [
    `--seed ${seed} --path ${path}`,
    ...(nodes === "memory" ? [] : [`--nodes ${nodes}`]),
    ...(focus.length === 0 ? [] : [`--focus ${focus.join(",")}`]),
  ];
  return [
    reason,
    `repeat: npm run sequences -- ${options.join(" ")}`,
    "the shortest sequence found:",
    ...actions.map((action) => `  ${JSON.stringify(action)}`),
  ].join("\n");
}
