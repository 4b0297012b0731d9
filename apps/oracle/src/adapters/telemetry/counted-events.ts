import { Counter, Gauge, Histogram } from "prom-client";
import type { Registry } from "prom-client";
import type { Logger } from "@causeway/service-kit";
import type { OracleEvents } from "../../ports/events.ts";

const PEER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Logs what an operator should see, and counts everything. */
export function countedEvents(log: Logger, registry: Registry): OracleEvents {
  const registers = [registry];
  const attestations = new Counter({
    name: "oracle_attestations_total",
    help: "Attestation requests by route, chain family and outcome",
    labelNames: ["route", "family", "outcome"],
    registers,
  });
  const shortfalls = new Counter({
    name: "oracle_quorum_shortfalls_total",
    help: "Responses with peer signatures that have fewer counted signers than the threshold",
    labelNames: ["route"],
    registers,
  });
  const local = new Counter({
    name: "oracle_local_verdicts_total",
    help: "This oracle's own result, compared with the response sent",
    labelNames: ["route", "local"],
    registers,
  });
  const peerCalls = new Counter({
    name: "oracle_peer_calls_total",
    help: "Calls to peers by outcome; calls whose response was not awaited are not counted",
    labelNames: ["peer", "outcome"],
    registers,
  });
  const peerTimes = new Histogram({
    name: "oracle_peer_call_seconds",
    help: "Duration of calls to peers",
    labelNames: ["peer"],
    buckets: PEER_SECONDS,
    registers,
  });
  const signatures = new Counter({
    name: "oracle_signatures_total",
    help: "Signatures requested from the signing key by outcome",
    labelNames: ["outcome"],
    registers,
  });
  const healthy = new Gauge({
    name: "oracle_signer_healthy",
    help: "1 if the last signature succeeded, 0 if it failed",
    registers,
  });
  healthy.set(1);
  // A labeled counter is looked up by its joined labels; the two most frequent are cached.
  const signed = { true: signatures.labels("made"), false: signatures.labels("failed") };
  let isLastSuccessful = true;

  return {
    attested({ route, family, outcome, quorum, wantsPeers = false, error }) {
      attestations.inc({ route, family, outcome });
      if (quorum !== undefined) {
        // A peer asks for this oracle's signature alone, which is never a quorum.
        if (wantsPeers && quorum.signers < quorum.threshold && outcome !== "nothing")
          shortfalls.inc({ route });
        local.inc({ route, local: quorum.local });
      }
      if (outcome === "upstream_unavailable" || outcome === "internal")
        log.error({ event: "attestationFailed", route, family, outcome, err: error });
    },
    peerWarning(route, { kind, text, peer, matched, required, error }) {
      log.warn({
        event: "peers",
        route,
        kind,
        text,
        peer,
        matched,
        required,
        ...(error === undefined ? {} : { err: error }),
      });
    },
    peerCallEnded(_route, { name, outcome, tookMs }) {
      peerCalls.inc({ peer: name, outcome });
      peerTimes.observe({ peer: name }, tookMs / 1000);
    },
    signed(isSuccessful) {
      signed[`${isSuccessful}`].inc();
      if (isSuccessful === isLastSuccessful) return;
      isLastSuccessful = isSuccessful;
      healthy.set(isSuccessful ? 1 : 0);
    },
  };
}
