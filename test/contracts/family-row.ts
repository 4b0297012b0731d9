import type { Judge } from "./family-judge.ts";
import { isNotApplicable, type FamilyWorld, type NotApplicable, type Scene } from "./family-world.ts";

export interface Row {
  readonly name: string;
  /** Throws if the row fails. Returns the reason if the case does not apply. */
  readonly run: (judge: Judge) => Promise<NotApplicable | undefined>;
}

/** A row that every family must pass. */
export function row(name: string, run: (judge: Judge) => Promise<void>): Row {
  return {
    name,
    run: async (judge) => {
      await run(judge);
      return undefined;
    },
  };
}

/** A row that needs a scene which some families lack. */
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

/** Waits for `arrange`, then makes the chain's transactions final. */
export async function final<T>({ world }: Judge, arrange: Promise<T>): Promise<T> {
  const arranged = await arrange;
  await world.finalize();
  return arranged;
}
