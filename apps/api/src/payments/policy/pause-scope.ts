import type { Pause, PauseScope } from "./policy.port.ts";

/** A scope as text, as in the database and the API: `all`, `chain:8453`, `route:1-8453`. */
export function pauseScopeText(scope: PauseScope): string {
  switch (scope.kind) {
    case "all":
      return "all";
    case "chain":
      return `chain:${scope.chainId}`;
    case "route":
      return `route:${scope.originChainId}-${scope.destinationChainId}`;
    default:
      return scope satisfies never;
  }
}

/** Undefined: the text names no scope. */
export function readPauseScope(text: string): PauseScope | undefined {
  if (text === "all") return { kind: "all" };
  const chain = /^chain:(\d{1,15})$/.exec(text)?.[1];
  if (chain !== undefined) return { kind: "chain", chainId: Number(chain) };
  const [, origin, destination] = /^route:(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  if (origin === undefined || destination === undefined) return undefined;
  return { kind: "route", originChainId: Number(origin), destinationChainId: Number(destination) };
}

/** The first pause that covers a payment from one chain to another, or on one chain. */
export function pauseOf(
  pauses: readonly Pause[],
  {
    originChainId,
    destinationChainId,
  }: { readonly originChainId: number; readonly destinationChainId: number },
): Pause | undefined {
  return pauses.find(({ scope }) => {
    if (scope.kind === "all") return true;
    if (scope.kind === "chain") return [originChainId, destinationChainId].includes(scope.chainId);
    return scope.originChainId === originChainId && scope.destinationChainId === destinationChainId;
  });
}
