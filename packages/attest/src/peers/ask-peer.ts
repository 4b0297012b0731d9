import type { AttestationRoute } from "../aggregate/attestation-route.ts";
import { PeerFailure } from "./peer.ts";
import type { AskOptions, Peer } from "./peer.ts";

/**
 * What a peer is sent: the caller's request for the peer's own signature alone. Asked for its peers' too, two
 * oracles that list each other would ask for ever; nothing that loosens or judges the answer (`force`,
 * `requireThreshold`) is asked of others.
 */
export function peerRequest(body: Readonly<Record<string, unknown>>): string {
  const { force: _force, requireThreshold: _requireThreshold, ...rest } = body;
  return JSON.stringify({ ...rest, requestPeerSignatures: false });
}

/**
 * One peer's answer by the route's schema. One that is marked as a shadow's is none: its operator says that
 * nobody should count on it yet.
 * @throws PeerFailure, and what the schema throws over an answer that it cannot even look at.
 */
export async function askPeer<Answer>(
  peer: Peer,
  route: AttestationRoute<Answer>,
  requestJson: string,
  options: AskOptions,
): Promise<Answer> {
  const json = await peer.ask(route.path, requestJson, options);
  // Before the schema, which drops what it does not know.
  if (isOfShadow(json)) throw new PeerFailure("shadow", "runs in shadow mode and does not count");
  const answer = route.parse(json);
  if (answer === undefined)
    throw new PeerFailure("invalid", "returned a response that does not match the schema");
  return answer;
}

function isOfShadow(json: unknown): boolean {
  return typeof json === "object" && json !== null && "shadow" in json && json.shadow === true;
}
