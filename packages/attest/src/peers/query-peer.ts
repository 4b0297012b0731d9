import type { AttestationRoute } from "../aggregate/attestation-route.ts";
import { PeerFailure } from "./peer.ts";
import type { QueryOptions, Peer } from "./peer.ts";

/**
 * The request to a peer: the caller's request, but only for the peer's own signature. Otherwise two oracles
 * that list each other as peers would query each other forever. Options that affect acceptance (`force`,
 * `requireThreshold`) are not passed on.
 */
export function peerRequest(body: Readonly<Record<string, unknown>>): string {
  const { force: _force, requireThreshold: _requireThreshold, ...rest } = body;
  return JSON.stringify({ ...rest, requestPeerSignatures: false });
}

/**
 * One peer's answer by the route's schema. An answer of a shadow oracle is ignored: its operator does not
 * want it to count yet.
 * @throws PeerFailure, and the schema's error for an answer that it cannot parse
 */
export async function queryPeer<Answer>(
  peer: Peer,
  route: AttestationRoute<Answer>,
  requestJson: string,
  options: QueryOptions,
): Promise<Answer> {
  const json = await peer.query(route.path, requestJson, options);
  // Check before parsing: the schema drops unknown fields.
  if (isFromShadowOracle(json)) throw new PeerFailure("shadow", "runs in shadow mode and does not count");
  const answer = route.parse(json);
  if (answer === undefined)
    throw new PeerFailure("invalid", "returned a response that does not match the schema");
  return answer;
}

function isFromShadowOracle(json: unknown): boolean {
  return typeof json === "object" && json !== null && "shadow" in json && json.shadow === true;
}
