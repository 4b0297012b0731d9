import type { AttestationRoute } from "../aggregate/attestation-route.ts";
import { examine } from "../aggregate/examine.ts";
import type {
  AnswerSource,
  Examined,
  QuorumPolicy,
  RecoverSigner,
  RefusedSignature,
} from "../aggregate/examine.ts";
import { answerOf, standing } from "../aggregate/standing.ts";
import type { SignedGroup } from "../aggregate/standing.ts";
import { askPeer, peerRequest } from "./ask-peer.ts";
import { fanOut } from "./fan-out.ts";
import { PeerFailure } from "./peer.ts";
import type { Peer } from "./peer.ts";
import type { PeerReport, PeerWarning } from "./peer-warning.ts";

export interface PeerAttestation<Answer> {
  readonly route: AttestationRoute<Answer>;
  /** Attests and signs here. Its signal says that the answer is not needed any more. */
  readonly local: (signal: AbortSignal) => Promise<Answer>;
  /** In the order of the configuration. */
  readonly peers: readonly Peer[];
  /**
   * The caller's request, checked by the route's schema. Peers are asked when its `requestPeerSignatures` is
   * true.
   */
  readonly body: Readonly<Record<string, unknown>>;
  /** The caller's `x-api-key`. */
  readonly incomingKey: string | undefined;
  readonly policy: QuorumPolicy;
  /** Bounds each peer's call as a whole. */
  readonly timeoutMs: number;
  readonly recover: RecoverSigner;
  /** Ends everything: the caller has gone, or the request's time is over. */
  readonly signal: AbortSignal;
  readonly onWarning: (warning: PeerWarning) => void;
  readonly onPeerSettled?: (report: PeerReport) => void;
}

export interface PeerAttested<Answer> {
  readonly answer: Answer;
  /** Undefined when no peer was asked. */
  readonly quorum: Quorum | undefined;
}

/** What stands behind an answer. */
export interface Quorum {
  /**
   * How many signers signed all of it. Callers must look: an answer with fewer than `threshold` is a success
   * too.
   */
  readonly signers: number;
  /** 1 when there is no list of signers. */
  readonly threshold: number;
  /**
   * What this oracle itself found: the same (`ok`), something else (`mismatch`), nothing (`failed`), or
   * nothing yet (`pending`). Unless `ok`, this oracle has not attested the answer.
   */
  readonly local: "ok" | "failed" | "mismatch" | "pending";
}

/**
 * Nothing failed here, and still there is no answer: not even this oracle's own carries a signature that
 * counts.
 */
export class NoCountedSignature extends Error {
  override readonly name = "NoCountedSignature";
  readonly code = "internal";

  constructor() {
    super("no response contains a counted signature");
  }
}

/**
 * Attests here and at the peers at once, and combines what they signed.
 *
 * With a list of signers the first group that has enough of them is the answer, whether or not this oracle is
 * among them, and what is still under way is aborted. When nothing more can come, the strongest group is the
 * answer, with a warning when it is too small. Without a list everybody is waited for, and only peers that
 * say what this oracle says are used.
 *
 * @throws the error of `local` when no group may be answered (without a list: as soon as `local` fails),
 * {@link NoCountedSignature}, and `signal`'s reason when it is aborted.
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
      const one = examine({ source, answer: settled.value }, route, policy, recover);
      examined.push(one);
      if (source === "local") local = "attested";
      warnOfRefused(call, one);
      tellPeer(call, source, "answered", settled.tookMs);
    } catch (error) {
      if (source === "local") {
        // Without a list nothing that others sign could be answered.
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
      tellPeer(call, source, failure.kind, settled.tookMs);
      continue;
    }
    if (standing(examined, policy).complete) break;
  }

  const { best, complete } = standing(examined, policy);
  if (best === undefined) throw typeof local === "object" ? local.error : new NoCountedSignature();
  warnOfOthers(call, examined, best);
  const threshold = policy.signers === undefined ? 1 : policy.threshold;
  const signers = best.signers.length;
  if (policy.signers !== undefined && !complete)
    call.onWarning({
      kind: "belowThreshold",
      text: `${signers} of ${threshold} required signers signed the response`,
      matched: signers,
      required: threshold,
    });
  return { answer: answerOf(route, best), quorum: { signers, threshold, local: localWord(local, best) } };
}

const WHY: Readonly<Record<RefusedSignature["reason"], string>> = {
  notTheirs: "did not sign this message",
  stranger: "is not a counted signer",
  tooMany: "exceeds the maximum number of signatures",
};

type Starts<Answer> = ReadonlyMap<AnswerSource, (signal: AbortSignal) => Promise<Answer>>;

function startsOf<Answer>(call: PeerAttestation<Answer>): Starts<Answer> {
  const { route, incomingKey, timeoutMs } = call;
  const requestJson = peerRequest(call.body);
  const peers = call.peers.map(
    (peer, place) =>
      [
        place,
        async (signal: AbortSignal) =>
          await askPeer(peer, route, requestJson, { incomingKey, timeoutMs, signal }),
      ] as const,
  );
  return new Map<AnswerSource, (signal: AbortSignal) => Promise<Answer>>([["local", call.local], ...peers]);
}

function localWord<Answer>(
  local: "pending" | "attested" | { readonly error: unknown },
  best: SignedGroup<Answer>,
): Quorum["local"] {
  if (typeof local === "object") return "failed";
  if (local === "pending") return "pending";
  return best.sources.includes("local") ? "ok" : "mismatch";
}

/**
 * Whoever says something else than the answer is worth a look: a node lags, a configuration differs, or
 * somebody lies.
 */
function warnOfOthers<Answer>(
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
 * One warning for all of an answer's refused signatures: how many there are is for the peer to say, and a log
 * has an end.
 */
function warnOfRefused<Answer>(call: PeerAttestation<Answer>, { source, refused }: Examined<Answer>): void {
  const [first] = refused;
  if (first === undefined) return;
  const example = `${first.claimedSigner} at position ${first.slot} ${WHY[first.reason]}`;
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

function tellPeer<Answer>(
  call: PeerAttestation<Answer>,
  source: AnswerSource,
  outcome: PeerReport["outcome"],
  tookMs: number,
): void {
  const name = source === "local" ? undefined : call.peers[source]?.name;
  if (source !== "local" && name !== undefined) call.onPeerSettled?.({ peer: source, name, outcome, tookMs });
}
