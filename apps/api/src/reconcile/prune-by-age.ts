import { mayDeleteByAge } from "../markets/index.ts";

/** Wraps a task that deletes by age, so that it only runs while the clock is plausible. */
export function pruneByAge(
  services: Parameters<typeof mayDeleteByAge>[0],
  prune: () => Promise<void>,
): () => Promise<void> {
  return async () => {
    if (await mayDeleteByAge(services)) await prune();
  };
}
