import type { LoadedChainFile } from "./chain-loader.ts";

/** Problems of a configuration that enables no chain, and why each chain is disabled. */
export function noChainProblems({
  warnings,
  unconfiguredChains,
}: Pick<LoadedChainFile<never>, "warnings" | "unconfiguredChains">): readonly string[] {
  const unset =
    unconfiguredChains.length === 0
      ? []
      : [`disabled because none of their variables is set: ${unconfiguredChains.join(", ")}`];
  return ["no chain is enabled", ...warnings, ...unset];
}
