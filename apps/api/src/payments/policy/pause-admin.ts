import { ServiceError } from "@causeway/domain";
import type { Events } from "../../db/events.port.ts";
import { pauseScopeText, readPauseScope } from "./pause-scope.ts";
import type { Pause, PauseScope, PauseStore } from "./policy.port.ts";

/** Pauses and resumes new requests and payments. */
export interface PauseAdmin {
  list(): Promise<readonly Pause[]>;
  /**
   * Does nothing if the scope is paused already.
   * @throws ServiceError INVALID_REQUEST for an unknown scope
   */
  pause(scope: string, by: string, reason: string): Promise<Pause>;
  /** @throws ServiceError INVALID_REQUEST for an unknown scope, NOT_FOUND if it is not paused */
  resume(scope: string): Promise<void>;
}

interface Needs {
  readonly store: PauseStore;
  readonly clock: { nowMs(): number };
  readonly events: Pick<Events, "alarm">;
  /** Whether a chain is configured: a pause of a mistyped chain would stop nothing. Undefined: not known. */
  readonly isKnownChain: ((chainId: number) => boolean) | undefined;
}

export function pauseAdmin({ store, clock, events, isKnownChain }: Needs): PauseAdmin {
  const scopeOf = (text: string): PauseScope => {
    const scope = readPauseScope(text);
    if (scope !== undefined) return scope;
    throw new ServiceError(
      "INVALID_REQUEST",
      `scope must be all, chain:<chain id> or route:<origin chain id>-<destination chain id>, got ${text}`,
      { field: "scope" },
    );
  };
  return {
    list: async () => await store.list(),
    async pause(text, pausedBy, reason) {
      const scope = scopeOf(text);
      const unknown = isKnownChain && chainsOf(scope).find((chainId) => !isKnownChain(chainId));
      if (unknown !== undefined)
        throw new ServiceError("INVALID_REQUEST", `scope names chain ${unknown}, which is not configured`, {
          field: "scope",
        });
      const pause = await store.add({ scope, pausedBy, reason, sinceMs: clock.nowMs() });
      events.alarm("paused", { scope: pauseScopeText(scope), by: pausedBy, reason });
      return pause;
    },
    async resume(text) {
      const scope = scopeOf(text);
      if (!(await store.remove(scope)))
        throw new ServiceError("NOT_FOUND", `${pauseScopeText(scope)} is not paused`);
      events.alarm("resumed", { scope: pauseScopeText(scope) });
    },
  };
}

function chainsOf(scope: PauseScope): readonly number[] {
  if (scope.kind === "all") return [];
  return scope.kind === "chain" ? [scope.chainId] : [scope.originChainId, scope.destinationChainId];
}

/** A pause as printed and as answered. */
export function pauseJson({ scope, pausedBy, reason, sinceMs }: Pause) {
  return { scope: pauseScopeText(scope), by: pausedBy, reason, since: sinceMs };
}
