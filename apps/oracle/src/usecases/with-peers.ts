import { attestWithPeers, recoverSigner } from "@causeway/attest";
import type { AttestationRoute, Peer, QuorumPolicy } from "@causeway/attest";
import { AttestationError } from "../ports/attestation-error.ts";
import type { ParseRequest, ParsedRequest } from "../ports/parsed-request.ts";
import type { OracleEvents } from "../ports/events.ts";
import type { Attested, Caller } from "../ports/route-services.ts";
import { outcomeOf } from "./outcome.ts";
import type { ShadowLedger } from "./shadow-ledger.ts";
import { singleFlight } from "./single-flight.ts";
import { withTimeout } from "./with-timeout.ts";

/** How answers are aggregated, the same for every route. */
export interface Aggregation {
  readonly peers: readonly Peer[];
  readonly policy: QuorumPolicy;
  /** Timeout of this oracle's own work on one request, ms. */
  readonly localDeadlineMs: number;
  /** Timeout of each peer's whole call, ms. */
  readonly peerTimeoutMs: number;
  readonly events: OracleEvents;
  readonly ledger: ShadowLedger;
  /** Admits a call of this caller, see `limitConcurrentCalls`. */
  readonly admitCall: (caller: string) => () => void;
}

interface Options {
  readonly requestPeerSignatures?: boolean | undefined;
  readonly requireThreshold?: boolean | undefined;
}

/**
 * Runs a use case with peers: parses the request, attests it here, queries the peers if the caller requested
 * that, and reports the agreement. Identical concurrent requests share one attestation and one call to each
 * peer (`connectPeer`).
 */
export function withPeers<Request extends Options, Answer>(
  path: string,
  parse: ParseRequest<Request, Answer>,
  aggregation: Aggregation,
): (request: Request, caller: Caller) => Promise<Attested<Answer>> {
  const { policy, events } = aggregation;
  const shared = singleFlight<Answer>();

  return async (request, caller) => {
    let family = "unknown";
    let release: (() => void) | undefined;
    let work: Promise<unknown> = Promise.resolve();
    try {
      release = aggregation.admitCall(caller.id);
      const parsed = parse(request);
      family = parsed.family;
      const attest = (): Promise<Answer> =>
        shared(parsed.key, () =>
          withTimeout(aggregation.localDeadlineMs, (signal) => {
            const started = parsed.attest(signal);
            work = started;
            return started;
          }),
        );
      const wantsPeers = request.requestPeerSignatures === true;
      const attested =
        wantsPeers && aggregation.peers.length > 0
          ? await attestTogether(path, request, caller, parsed, attest, aggregation)
          : attestAlone(parsed, await attest(), policy);
      const isEmpty = parsed.signsNothing(attested.answer);
      const { signers, threshold } = attested.quorum;
      if (request.requireThreshold === true && !isEmpty && signers < threshold)
        throw new AttestationError(
          "quorum_not_reached",
          `${signers} of ${threshold} required signers signed`,
        );
      const outcome = isEmpty ? "nothing" : "ok";
      events.attested({ route: path, family, outcome, quorum: attested.quorum, wantsPeers });
      return attested;
    } catch (error) {
      events.attested({ route: path, family, outcome: outcomeOf(error), error });
      throw error;
    } finally {
      // Release only after the work has ended: otherwise a caller that disconnects could start unlimited
      // work.
      if (release !== undefined) work.then(release, release);
    }
  };
}

function attestAlone<Answer>(
  parsed: ParsedRequest<Answer>,
  answer: Answer,
  policy: QuorumPolicy,
): Attested<Answer> {
  // A threshold has no meaning without a list of signers.
  const threshold = policy.signers === undefined ? 1 : policy.threshold;
  return { answer, quorum: { signers: parsed.signsNothing(answer) ? 0 : 1, threshold, local: "ok" } };
}

async function attestTogether<Answer>(
  path: string,
  request: Options,
  { apiKey, disconnected }: Caller,
  { route }: ParsedRequest<Answer>,
  attest: () => Promise<Answer>,
  { peers, policy, peerTimeoutMs, events, ledger }: Aggregation,
): Promise<Attested<Answer>> {
  let ownAttestation: Promise<Answer> | undefined;
  const { answer, quorum } = await attestWithPeers({
    route,
    local: () => (ownAttestation = attest()),
    peers,
    body: request as Readonly<Record<string, unknown>>,
    incomingKey: apiKey,
    policy,
    timeoutMs: peerTimeoutMs,
    recover: recoverSigner,
    signal: disconnected(),
    onWarning: (warning) => {
      events.peerWarning(path, warning);
      const peer = warning.kind === "peerDiverges" ? peers[warning.peer ?? -1] : undefined;
      if (peer !== undefined) ledger.notePeer(peer.name, "diverged");
    },
    onPeerSettled: (report) => {
      events.peerCallEnded(path, report);
      ledger.notePeer(report.name, report.outcome === "answered" ? "answered" : "failed");
    },
  });
  if (quorum === undefined)
    throw new TypeError("invariant violated: peers were queried without a quorum report");
  if (quorum.local === "pending")
    void ownAttestation?.then(
      (lateAnswer) => ledger.note(isSameAnswer(route, lateAnswer, answer) ? "ok" : "mismatch"),
      () => ledger.note("failed"),
    );
  // An answer signed by no one, or only by this oracle, is not an agreement.
  else ledger.note(quorum.local === "ok" && quorum.signers < 2 ? "alone" : quorum.local);
  return { answer, quorum };
}

function isSameAnswer<Answer>(route: AttestationRoute<Answer>, a: Answer, b: Answer): boolean {
  return JSON.stringify(route.unsigned(a)) === JSON.stringify(route.unsigned(b));
}
