import type { AttestationRoute } from "../aggregate/attestation-route.ts";
import { examine } from "../aggregate/examine.ts";
import type {
  AnswerSource,
  Examined,
  QuorumPolicy,
  RecoverSigner,
  RefusedSignature,
} from "../aggregate/examine.ts";
import { answerOf, evaluateQuorum } from "../aggregate/quorum.ts";
import type { SignedGroup } from "../aggregate/quorum.ts";
import { queryPeer, peerRequest } from "./query-peer.ts";
import { fanOut } from "./fan-out.ts";
import { PeerFailure } from "./peer.ts";
import type { Peer } from "./peer.ts";
import type { PeerReport, PeerWarning } from "./peer-warning.ts";

export interface PeerAttestation<Answer> {
  readonly route: AttestationRoute<Answer>;
  /** Attests and signs locally. Its signal aborts once the answer is no longer needed. */
  readonly local: (signal: AbortSignal) => Promise<Answer>;
  /** In configured order. */
  readonly peers: readonly Peer[];
  /**
   * The caller's request, validated by the route's schema. Peers are queried if its `requestPeerSignatures`
   * is true.
   */
  readonly body: Readonly<Record<string, unknown>>;
  /** The caller's `x-api-key`. */
  readonly incomingKey: string | undefined;
  readonly policy: QuorumPolicy;
  /** Covers each peer's whole call. */
  readonly timeoutMs: number;
  readonly recover: RecoverSigner;
  /** Aborts everything: the caller has left, or the request timed out. */
  readonly signal: AbortSignal;
  readonly onWarning: (warning: PeerWarning) => void;
  readonly onPeerSettled?: (report: PeerReport) => void;
}

export interface PeerAttested<Answer> {
  readonly answer: Answer;
  /** Undefined if no peer was queried. */
  readonly quorum: Quorum | undefined;
}

/** The agreement on an answer. */
export interface Quorum {
  /** How many signers signed every slot. May be below `threshold`: callers must compare. */
  readonly signers: number;
  /** 1 without a list of signers. */
  readonly threshold: number;
  /**
   * This oracle's own result: the same answer (`ok`), a different one (`mismatch`), an error (`failed`), or
   * none yet (`pending`). Unless `ok`, this oracle has not attested the answer.
   */
  readonly local: "ok" | "failed" | "mismatch" | "pending";
}

/**
 * Nothing failed locally, but no answer, including this oracle's own, has a counted signature.
 */
export class NoCountedSignature extends Error {
  override readonly name = "NoCountedSignature";
  readonly code = "internal";

  constructor() {
    super("no response contains a counted signature");
  }
}

/**
 * Attests locally and at the peers concurrently, and combines the signatures.
 * With a list of signers, the first group with enough of them is the answer, with or without this oracle,
 * and pending calls are aborted; if no group reaches the threshold, the strongest group is the answer, with
 * a warning. Without a list, waits for all peers and uses only the answers that agree with this oracle's.
 * @throws the error of `local` if it fails and no group may be returned (without a list: immediately)
 * @throws NoCountedSignature if nothing failed locally, but no group may be returned
 * @throws the reason of `signal` when it aborts
 */
export async function attestWithPeers<Answer>(call: PeerAttestation<Answer>): Promise<PeerAttested<Answer>> {
  const { policy, route, recover } = call;
  if (call.body["requestPeerSignatures"] !== true || call.peers.length === 0)
    return { answer: await call.local(call.signal), quorum: undefined };

  const examined: Examined<Answer>[] = [];
  let local: "pending" | "attested" | { readonly error: unknown } = "pending";
  for await (const settled of fanOut(startsOf(call), call.signal)) {
    const { source } = settled;
    try {
      if (!settled.ok) throw settled.error;
      const arrival = examine({ source, answer: settled.value }, route, policy, recover);
      examined.push(arrival);
      if (source === "local") local = "attested";
      warnOfRefused(call, arrival);
      reportPeer(call, source, "answered", settled.tookMs);
    } catch (error) {
      if (source === "local") {
        // Without a list, other signers' answers could not be returned.
        if (policy.signers === undefined) throw error;
        local = { error };
        call.onWarning({ kind: "localFailed", text: "the local attestation failed", error });
        continue;
      }
      const failure =
        error instanceof PeerFailure
          ? error
          : new PeerFailure("invalid", "returned a response that cannot be parsed");
      warnOf(call, source, "peerSkipped", failure.message);
      reportPeer(call, source, failure.kind, settled.tookMs);
      continue;
    }
    if (evaluateQuorum(examined, policy).complete) break;
  }

  const { best, complete } = evaluateQuorum(examined, policy);
  if (best === undefined) throw typeof local === "object" ? local.error : new NoCountedSignature();
  warnOfDivergence(call, examined, best);
  const threshold = policy.signers === undefined ? 1 : policy.threshold;
  const signers = best.signers.length;
  if (policy.signers !== undefined && !complete)
    call.onWarning({
      kind: "belowThreshold",
      text: `${signers} of ${threshold} required signers signed the response`,
      matched: signers,
      required: threshold,
    });
  return { answer: answerOf(route, best), quorum: { signers, threshold, local: localResult(local, best) } };
}

const REFUSAL_TEXTS: Readonly<Record<RefusedSignature["reason"], string>> = {
  wrongSigner: "did not sign this message",
  unknownSigner: "is not a counted signer",
  tooMany: "exceeds the maximum number of signatures",
};

type Starts<Answer> = ReadonlyMap<AnswerSource, (signal: AbortSignal) => Promise<Answer>>;

function startsOf<Answer>(call: PeerAttestation<Answer>): Starts<Answer> {
  const { route, incomingKey, timeoutMs } = call;
  const requestJson = peerRequest(call.body);
  const peers = call.peers.map(
    (peer, index) =>
      [
        index,
        async (signal: AbortSignal) =>
          await queryPeer(peer, route, requestJson, { incomingKey, timeoutMs, signal }),
      ] as const,
  );
  return new Map<AnswerSource, (signal: AbortSignal) => Promise<Answer>>([["local", call.local], ...peers]);
}

function localResult<Answer>(
  local: "pending" | "attested" | { readonly error: unknown },
  best: SignedGroup<Answer>,
): Quorum["local"] {
  if (typeof local === "object") return "failed";
  if (local === "pending") return "pending";
  return best.sources.includes("local") ? "ok" : "mismatch";
}

/** Warns of different answers: a node lags, a configuration differs, or a peer lies. */
function warnOfDivergence<Answer>(
  call: PeerAttestation<Answer>,
  examined: readonly Examined<Answer>[],
  best: SignedGroup<Answer>,
): void {
  for (const { source, key } of examined) {
    if (key === best.key) continue;
    if (source !== "local") warnOf(call, source, "peerDiverges", "returned a different result");
    else
      call.onWarning({ kind: "localDiverges", text: "this oracle has a different result than the response" });
  }
}

/**
 * One warning for all refused signatures of an answer: the peer controls their number, and logs must stay
 * bounded.
 */
function warnOfRefused<Answer>(call: PeerAttestation<Answer>, { source, refused }: Examined<Answer>): void {
  const [first] = refused;
  if (first === undefined) return;
  const example = `${first.claimedSigner} at position ${first.slot} ${REFUSAL_TEXTS[first.reason]}`;
  warnOf(
    call,
    source,
    "signatureRefused",
    `returned ${refused.length} signature(s) that do not count: ${example}`,
  );
}

function warnOf<Answer>(
  call: PeerAttestation<Answer>,
  source: AnswerSource,
  kind: PeerWarning["kind"],
  text: string,
): void {
  if (source === "local") call.onWarning({ kind, text: `this oracle ${text}` });
  else call.onWarning({ kind, text: `peer ${source} (${call.peers[source]?.name}) ${text}`, peer: source });
}

function reportPeer<Answer>(
  call: PeerAttestation<Answer>,
  source: AnswerSource,
  outcome: PeerReport["outcome"],
  tookMs: number,
): void {
  const name = source === "local" ? undefined : call.peers[source]?.name;
  if (source !== "local" && name !== undefined) call.onPeerSettled?.({ peer: source, name, outcome, tookMs });
}
