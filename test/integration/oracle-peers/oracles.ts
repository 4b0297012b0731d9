import {
  attestWithPeers,
  connectPeer,
  rawKeySigner,
  recoverSigner,
  signatureToHex,
  type Peer,
  type PeerAttestation,
  type PeerAttested,
  type PeerReport,
  type PeerWarning,
  type Signer,
} from "@causeway/attest";
import { onTestFinished } from "vitest";
import { startPeer, type Behavior, type FakePeer } from "./fake-peer.ts";
import { digestOf, notesRoute, OUR_DOMAIN, type Note, type NotesAnswer } from "./note-route.ts";

const signerOf = (byte: string): Signer => rawKeySigner(`0x${byte.repeat(32)}`);

/** L is the local oracle. A, B and C are its listed peers, and the last one is an unlisted signer. */
export const L = signerOf("11");
export const A = signerOf("a1");
export const B = signerOf("b2");
export const C = signerOf("c3");
export const Z = signerOf("f4");

/** The facts of two notes that differ only in their amount. */
export const X: Pick<Note, "amount" | "actions"> = { amount: "1000", actions: "0xab01" };
export const Y: Pick<Note, "amount" | "actions"> = { amount: "999", actions: "0xab01" };

export async function signatureOf(signer: Signer, note = X, domain = OUR_DOMAIN): Promise<string> {
  return signatureToHex(await signer.signDigest(digestOf(note, domain)));
}

/** An answer about one note, with signatures by these signers. */
export async function answerBy(signers: readonly Signer[], note = X): Promise<NotesAnswer> {
  return await answerOfNotes([[note, signers]]);
}

/** An answer about several notes, each signed by its own signers. */
export async function answerOfNotes(
  notes: readonly (readonly [Pick<Note, "amount" | "actions">, readonly Signer[]])[],
): Promise<NotesAnswer> {
  return {
    notes: await Promise.all(
      notes.map(async ([note, signers]) => ({
        ...note,
        signatures: await Promise.all(
          signers.map(async (signer) => ({
            oracle: signer.address,
            signature: await signatureOf(signer, note),
          })),
        ),
      })),
    ),
    domain: OUR_DOMAIN,
  };
}

/** An answer with this one signature, unchanged. */
export function answerWith(oracle: string, signature: string): NotesAnswer {
  return { notes: [{ ...X, signatures: [{ oracle, signature }] }], domain: OUR_DOMAIN };
}

export interface Question {
  readonly local: PeerAttestation<NotesAnswer>["local"];
  readonly peers: readonly Behavior[];
  readonly route?: typeof notesRoute;
  /** The listed signers. Default: L, A, B and C. */
  readonly list?: readonly Signer[] | "none";
  readonly threshold?: number;
  readonly timeoutMs?: number;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly incomingKey?: string;
  /** The API key for every peer. */
  readonly credential?: string;
  readonly signal?: AbortSignal;
}

export interface Outcome extends PeerAttested<NotesAnswer> {
  readonly warnings: readonly PeerWarning[];
  readonly reports: readonly PeerReport[];
  readonly tookMs: number;
  readonly fakePeers: readonly FakePeer[];
}

/** The outcome of asking oracle L, whose peers have these behaviors. */
export async function ask(question: Question): Promise<Outcome> {
  const fakePeers = await Promise.all(question.peers.map(startPeer));
  const outcome = await askAgain(fakePeers.map(connect(question.credential)), question);
  return { ...outcome, fakePeers };
}

/** The outcome of asking oracle L, whose peers are already connected. */
export async function askAgain(
  peers: readonly Peer[],
  question: Omit<Question, "peers">,
): Promise<Omit<Outcome, "fakePeers">> {
  const { list = [L, A, B, C], threshold = 2, timeoutMs = 400, body = {} } = question;
  const warnings: PeerWarning[] = [];
  const reports: PeerReport[] = [];
  const startedAtMs = performance.now();
  const attested = await attestWithPeers({
    route: question.route ?? notesRoute,
    local: question.local,
    peers,
    body: { chainId: "base", requestPeerSignatures: true, ...body },
    incomingKey: question.incomingKey,
    policy: {
      signers: list === "none" ? undefined : new Set(list.map(({ address }) => address)),
      threshold,
      localSigner: L.address,
    },
    timeoutMs,
    recover: recoverSigner,
    signal: question.signal ?? new AbortController().signal,
    onWarning: (warning) => warnings.push(warning),
    onPeerSettled: (report) => reports.push(report),
  });
  return { ...attested, warnings, reports, tookMs: performance.now() - startedAtMs };
}

/** Connects to peers. The connections close when the test ends. */
export function connect(credential = "key-of-the-peer"): (peer: FakePeer) => Peer {
  return ({ url }) => {
    const peer = connectPeer({
      baseUrl: url,
      credential: credential === "pass-through" ? undefined : credential,
    });
    onTestFinished(async () => await peer.close());
    return peer;
  };
}

export const localAnswer =
  (answer: NotesAnswer): Question["local"] =>
  async () =>
    await Promise.resolve(answer);

/** The signers of each note in the answer, in the order of the answer. */
export function signersOf({ answer }: { readonly answer: NotesAnswer }): readonly string[][] {
  return answer.notes.map(({ signatures }) => signatures.map(({ oracle }) => nameOf(oracle)));
}

function nameOf(address: string): string {
  const names: Readonly<Record<string, string>> = {
    [L.address]: "L",
    [A.address]: "A",
    [B.address]: "B",
    [C.address]: "C",
    [Z.address]: "Z",
  };
  return names[address] ?? address;
}

export function kindsOf({ warnings }: { readonly warnings: readonly PeerWarning[] }): readonly string[] {
  return warnings.map(({ kind }) => kind);
}
