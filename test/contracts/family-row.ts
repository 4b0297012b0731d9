import type { Judge } from "./family-judge.ts";
import { isNotApplicable, type FamilyWorld, type NotApplicable, type Scene } from "./family-world.ts";

/** A row of the table. */
export interface Row {
  readonly name: string;
  /** Passes by returning nothing. */
  readonly run: (judge: Judge) => Promise<NotApplicable | undefined>;
}

/** A row that all families have. */
export function row(name: string, run: (judge: Judge) => Promise<void>): Row {
  return {
    name,
    run: async (judge) => {
      await run(judge);
      return undefined;
    },
  };
}

/** A row that needs something that not every family has. */
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

/** Arranges, makes it final, and tells. */
export async function final<T>({ world }: Judge, arrange: Promise<T>): Promise<T> {
  const arranged = await arrange;
  await world.finalize();
  return arranged;
}
