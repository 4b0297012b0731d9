import type { Signer } from "@causeway/attest";
import { durations, type NoteDuration } from "@causeway/service-kit";
import type { Registry } from "prom-client";

/** From a key in memory to a key service that needed three tries. ms */
const BOUNDS_MS = [0.1, 0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/** Wraps a signer and times every signature by outcome. */
export function timedSigner(signer: Signer, registry: Registry): Signer {
  const seriesOf = durations(registry, {
    name: "oracle_signature_seconds",
    help: "Duration of signing, including failures",
    boundsMs: BOUNDS_MS,
  });
  let noteMade: NoteDuration | undefined;
  let noteFailed: NoteDuration | undefined;
  return {
    address: signer.address,
    async signDigest(digest) {
      const startedAtMs = performance.now();
      try {
        const signature = await signer.signDigest(digest);
        noteMade ??= seriesOf({ outcome: "made" });
        noteMade(performance.now() - startedAtMs);
        return signature;
      } catch (error) {
        noteFailed ??= seriesOf({ outcome: "failed" });
        noteFailed(performance.now() - startedAtMs);
        throw error;
      }
    },
  };
}
