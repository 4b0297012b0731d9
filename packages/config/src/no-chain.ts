import type { LoadedFile } from "./chain-loader.ts";

/** Problems of a configuration that enables no chain, and what keeps each one off. */
export function noChainProblems({
  warnings,
  off,
}: Pick<LoadedFile<never>, "warnings" | "off">): readonly string[] {
  const unset =
    off.length === 0 ? [] : [`disabled because none of their variables is set: ${off.join(", ")}`];
  return ["no chain is enabled", ...warnings, ...unset];
}
