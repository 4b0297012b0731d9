import { connectPeer, executionDigester } from "@causeway/attest";
import { checkedTransport, createRpcTransport, evidenceSources, RpcFault } from "@causeway/chains";
import type { ObserveCall } from "@causeway/chains";
import type { HttpServices, Lifecycle } from "@causeway/service-kit";
import { createHubReader, WrongHub } from "./adapters/hub/hub-reader.ts";
import { createLastAnswers } from "./adapters/last-answers.ts";
import { createNonceMappings } from "./adapters/hub/nonce-mappings.ts";
import { countedEvents } from "./adapters/telemetry/counted-events.ts";
import { timedCalls } from "./adapters/telemetry/timed-calls.ts";
import { timedSigner } from "./adapters/telemetry/timed-signer.ts";
import { timedEvidence } from "./adapters/timed-evidence.ts";
import type { OracleConfig } from "./config.ts";
import type { AttestedChain } from "./ports/attested-chains.ts";
import type { AttestationServices } from "./ports/attestation-services.ts";
import type { RouteServices } from "./ports/route-services.ts";
import { routeServices } from "./route-services.ts";
import { limitConcurrentCalls } from "./usecases/limit-concurrent-calls.ts";
import { createAttestationSigner } from "./usecases/sign-attestations.ts";
import { createShadowLedger } from "./usecases/shadow-ledger.ts";

/**
 * Builds all services from the configuration; the only module that knows every adapter. Does not wait for
 * nodes that do not answer yet.
 * @throws WrongHub, and RpcFault of kind `wrongChain`, if the hub's node serves another chain
 */
export async function createContainer(
  config: OracleConfig,
  { log, metrics }: HttpServices,
  lifecycle: Lifecycle,
): Promise<RouteServices> {
  const { chains, hub, signer, policy } = config;
  lifecycle.add("signer", () => signer.close?.());
  const events = countedEvents(log, metrics.registry);
  const timed = timedEvidence(metrics.registry);
  const timedCallsOf = timedCalls(metrics.registry);
  const lastAnswers = createLastAnswers(() => Date.now());
  const callsOf = (chain: string): ObserveCall => {
    const [note, noteAnswer] = [timedCallsOf(chain), lastAnswers.observe(chain)];
    return (...call) => {
      noteAnswer(...call);
      note(...call);
    };
  };
  const uncheckedTransport = createRpcTransport({ url: hub.rpcUrl, onCall: callsOf(hub.name) });
  lifecycle.add("hub", () => uncheckedTransport.close());
  const hubTransport = checkedTransport(uncheckedTransport, hub.chainId).transport;
  const sources = await evidenceSources(chains, {
    onDisagreement: (disagreement) => log.error({ event: "endpointsDisagree", ...disagreement }),
    observeCalls: callsOf,
    ...(hub.genericMappingAddress !== undefined && {
      nonceMappings: createNonceMappings(hub, hub.genericMappingAddress, hubTransport),
    }),
  });
  for (const [name, source] of sources) lifecycle.add(`chain ${name}`, () => source.close());
  const attestedChains = new Map(
    chains.map((chain): readonly [string, AttestedChain] => {
      const source = sources.get(chain.name);
      const lastAnswerMs = () => lastAnswers.ofChain(chain.name);
      return [chain.name, { chain, evidence: source && timed(source), lastAnswerMs }];
    }),
  );

  const hubReader = createHubReader(hub, hubTransport);
  try {
    await hubReader.verify();
  } catch (error) {
    // A wrong hub is a configuration error; an unavailable node recovers.
    if (error instanceof WrongHub || (error instanceof RpcFault && error.kind === "wrongChain")) throw error;
    log.error({ event: "hubUnreachable", err: error });
  }

  const peers = config.peers.map((endpoint) => {
    const peer = connectPeer(endpoint);
    lifecycle.add(`peer ${peer.name}`, () => peer.close());
    return peer;
  });
  const ledger = createShadowLedger(config.shadow, Date.now());
  const services: AttestationServices = {
    chains: attestedChains,
    hub,
    hubReader,
    attestationSigner: createAttestationSigner(timedSigner(signer, metrics.registry), hub, events.signed),
    executionDigest: executionDigester(hub),
  };
  return routeServices(
    services,
    {
      peers,
      policy,
      localDeadlineMs: config.requestDeadlineMs,
      peerTimeoutMs: config.peerTimeoutMs,
      events,
      ledger,
      admitCall: limitConcurrentCalls(config.callBounds),
    },
    { shadow: config.shadow, nowMs: () => Date.now() },
  );
}
