import type { LoadedFile } from "./chain-loader.ts";

/** Problems of a configuration that enables no chain, and why each chain is disabled. */
export function noChainProblems({
  warnings,
  off,
}: Pick<LoadedFile<never>, "warnings" | "off">): readonly string[] {
  const unset =
    off.length === 0 ? [] : [`disabled because none of their variables is set: ${off.join(", ")}`];
  return ["no chain is enabled", ...warnings, ...unset];
}
