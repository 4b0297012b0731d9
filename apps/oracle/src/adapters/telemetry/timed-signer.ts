import type { Signer } from "@causeway/attest";
import { Histogram } from "prom-client";
import type { Registry } from "prom-client";

/** From a key in memory to a key service that had to be asked three times. */
const SECONDS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The same signer, with the time of every signature measured by how it ended. */
export function timedSigner(signer: Signer, registry: Registry): Signer {
  const times = new Histogram({
    name: "oracle_signature_seconds",
    help: "Time until the key had signed, or could not",
    labelNames: ["outcome"],
    buckets: SECONDS,
    registers: [registry],
  });
  return {
    address: signer.address,
    async signDigest(digest) {
      const startedAtMs = performance.now();
      let outcome = "failed";
      try {
        const signature = await signer.signDigest(digest);
        outcome = "made";
        return signature;
      } finally {
        times.observe({ outcome }, (performance.now() - startedAtMs) / 1000);
      }
    },
  };
}
