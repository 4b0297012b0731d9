import type { Judge } from "./family-judge.ts";
import { isNotApplicable, type FamilyWorld, type NotApplicable, type Scene } from "./family-world.ts";

export interface Row {
  readonly name: string;
  /** Passes by returning nothing. */
  readonly run: (judge: Judge) => Promise<NotApplicable | undefined>;
}

/** A row that applies to all families. */
export function row(name: string, run: (judge: Judge) => Promise<void>): Row {
  return {
    name,
    run: async (judge) => {
      await run(judge);
      return undefined;
    },
  };
}

/** A row that needs a feature that some families lack. */
export function rowOf<Args extends readonly unknown[], Result>(
  name: string,
  sceneOf: (world: FamilyWorld) => Scene<Args, Result>,
  run: (judge: Judge, scene: (...args: Args) => Promise<Result>) => Promise<void>,
): Row {
  return {
    name,
    run: async (judge) => {
      const scene = sceneOf(judge.world);
      if (isNotApplicable(scene)) return scene;
      await run(judge, scene);
      return undefined;
    },
  };
}

/** Finalizes what `arrange` made, and returns it. */
export async function final<T>({ world }: Judge, arrange: Promise<T>): Promise<T> {
  const arranged = await arrange;
  await world.finalize();
  return arranged;
}
