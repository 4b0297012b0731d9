import { durations, type NoteDuration } from "@causeway/service-kit";
import type { Registry } from "prom-client";
import type { TimeSignatures } from "../chains/time-signatures.port.ts";

/** From a key in memory to a key service that needed several tries. */
const BOUNDS_MS = [0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/** Times every signature, by account, source of its key and outcome. */
export function signatureTimes(registry: Registry): TimeSignatures {
  const seriesOf = durations(registry, {
    name: "causeway_signer_seconds",
    help: "Duration of signatures by outcome: ok, or no signature (fault)",
    boundsMs: BOUNDS_MS,
  });
  return (account, source) => {
    const notes = new Map<string, NoteDuration>();
    const note = (outcome: "ok" | "fault", startedAtMs: number): void => {
      const noteDuration = notes.get(outcome) ?? seriesOf({ account, source, outcome });
      notes.set(outcome, noteDuration);
      noteDuration(performance.now() - startedAtMs);
    };
    return async (sign) => {
      const startedAtMs = performance.now();
      try {
        const signed = await sign();
        note("ok", startedAtMs);
        return signed;
      } catch (error) {
        note("fault", startedAtMs);
        throw error;
      }
    };
  };
}
