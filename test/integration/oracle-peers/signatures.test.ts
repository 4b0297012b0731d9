import type { Signer } from "@causeway/attest";
import { expect, test } from "vitest";
import { getAddress } from "viem";
import { answering } from "./fake-peer.ts";
import { OUR_DOMAIN, type NotesAnswer } from "./note-route.ts";
import {
  A,
  answerBy,
  answerOfNotes,
  answerWith,
  ask,
  B,
  C,
  kindsOf,
  L,
  localAnswer,
  signatureOf,
  signersOf,
  X,
  Y,
  Z,
} from "./oracles.ts";

/**
 * The local oracle attests note X. Returns the result with these peer answers if `threshold` signatures are
 * required.
 */
const withPeerAnswers = async (threshold: number, ...answers: readonly NotesAnswer[]) =>
  await ask({
    local: localAnswer(await answerBy([L])),
    // The answers arrive in sequence, so that each one takes effect.
    peers: answers.map((answer, index) => answering(answer, 40 * (index + 1))),
    threshold,
    timeoutMs: 1_000,
  });

test("a signature for another domain is invalid, even if the answer names this oracle's domain", async () => {
  const foreign = await signatureOf(A, X, { ...OUR_DOMAIN, contract: `0x${"0d".repeat(20)}` });
  const outcome = await withPeerAnswers(2, answerWith(A.address, foreign));
  expect(signersOf(outcome)).toEqual([["L"]]);
  expect(kindsOf(outcome)).toEqual(["signatureRefused", "belowThreshold"]);
});

test("a signature of another note is invalid", async () => {
  const outcome = await withPeerAnswers(2, answerWith(A.address, await signatureOf(A, Y)));
  expect(signersOf(outcome)).toEqual([["L"]]);
});

test("drops bytes that are not a signature, regardless of the signer that they name", async () => {
  const outcome = await withPeerAnswers(2, answerWith(A.address, "0xdeadbeef"));
  expect(signersOf(outcome)).toEqual([["L"]]);
  expect(outcome.warnings[0]).toMatchObject({ kind: "signatureRefused", peer: 0 });
});

test("a signature under a listed name that another key made is dropped", async () => {
  const byStranger = await withPeerAnswers(2, answerWith(A.address, await signatureOf(Z)));
  expect(signersOf(byStranger)).toEqual([["L"]]);
  const byListed = await withPeerAnswers(2, answerWith(A.address, await signatureOf(B)));
  expect(signersOf(byListed)).toEqual([["L"]]);
});

test("counts each signer of a bundle once, even if one of them also answers separately", async () => {
  const outcome = await withPeerAnswers(4, await answerBy([A, B, A]), await answerBy([B]));
  expect(signersOf(outcome)).toEqual([["L", "A", "B"]]);
  expect(outcome.quorum?.signers).toBe(3);
});

test("a peer that returns this oracle's own signature adds nothing", async () => {
  const outcome = await withPeerAnswers(2, await answerBy([L]));
  expect(signersOf(outcome)).toEqual([["L"]]);
  expect(outcome.quorum?.signers).toBe(1);
});

test("an unlisted signer's valid signature is neither counted nor forwarded", async () => {
  const alone = await withPeerAnswers(2, await answerBy([Z]));
  expect(signersOf(alone)).toEqual([["L"]]);
  const withOther = await withPeerAnswers(2, await answerBy([Z, A]));
  expect(signersOf(withOther)).toEqual([["L", "A"]]);
  expect(withOther.warnings).toMatchObject([{ kind: "signatureRefused", peer: 0 }]);
});

test("a signer whose address has checksum case is the same signer", async () => {
  const outcome = await withPeerAnswers(
    3,
    answerWith(getAddress(A.address), await signatureOf(A)),
    await answerBy([A]),
  );
  expect(signersOf(outcome)).toEqual([["L", "A"]]);
  expect(outcome.quorum?.signers).toBe(2);
});

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The other signature by the same key over the same digest, with s mirrored and v flipped. */
async function malleatedSignature(signer: Signer): Promise<string> {
  const signature = await signatureOf(signer);
  const s = (ORDER - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, "0");
  return `${signature.slice(0, 66)}${s}${signature.endsWith("1b") ? "1c" : "1b"}`;
}

test("the malleated form of a signature is invalid, alone or next to the original", async () => {
  const malleated = await malleatedSignature(A);
  const alone = await withPeerAnswers(2, answerWith(A.address, malleated));
  expect(signersOf(alone)).toEqual([["L"]]);
  const good = await signatureOf(A);
  const outcome = await withPeerAnswers(3, {
    notes: [
      {
        ...X,
        signatures: [malleated, good, malleated].map((signature) => ({ oracle: A.address, signature })),
      },
    ],
    domain: OUR_DOMAIN,
  });
  expect(outcome.answer.notes[0]?.signatures.map(({ signature }) => signature)).toEqual([
    await signatureOf(L),
    good,
  ]);
});

test("accepts only one format of a signature", async () => {
  const good = await signatureOf(A);
  const v = good.endsWith("1b") ? "00" : "01";
  const compact = `${good.slice(0, 130)}`;
  for (const [name, text] of [
    ["v of 0 or 1", `${compact}${v}`],
    ["64 bytes", compact],
    ["66 bytes", `${good}00`],
    ["capitals", `0x${good.slice(2).toUpperCase()}`],
    ["no 0x", good.slice(2)],
    ["0X", `0X${good.slice(2)}`],
    ["a trailing space", `${good} `],
    ["a trailing line break", `${good}\n`],
    ["nothing", ""],
  ] as const) {
    const outcome = await withPeerAnswers(2, answerWith(A.address, text));
    expect([name, signersOf(outcome)]).toEqual([name, [["L"]]]);
  }
  expect(signersOf(await withPeerAnswers(2, answerWith(A.address, good)))).toEqual([["L", "A"]]);
});

const twoNotes = async (first: readonly Signer[], second: readonly Signer[]): Promise<NotesAnswer> =>
  await answerOfNotes([
    [X, first],
    [Y, second],
  ]);

test("a peer that signed only the first of two notes counts for neither", async () => {
  const outcome = await ask({
    local: localAnswer(await twoNotes([L], [L])),
    peers: [answering(await twoNotes([A], []))],
  });
  expect(signersOf(outcome)).toEqual([["L"], ["L"]]);
  expect(outcome.quorum).toEqual({ signers: 1, threshold: 2, local: "ok" });
});

test("a peer that signed both notes counts for both, in one order", async () => {
  const outcome = await ask({
    local: localAnswer(await twoNotes([L], [L])),
    peers: [answering(await twoNotes([A, C], [C, A]))],
    threshold: 3,
  });
  expect(signersOf(outcome)).toEqual([
    ["L", "C", "A"],
    ["L", "C", "A"],
  ]);
});

test("does not combine the partial signatures of two peers", async () => {
  const outcome = await ask({
    local: localAnswer(await twoNotes([L], [L])),
    peers: [
      answering(await twoNotes([A], [])),
      answering(await twoNotes([], [B])),
      answering(await twoNotes([A], [B])),
    ],
  });
  expect(signersOf(outcome)).toEqual([["L"], ["L"]]);
  expect(outcome.quorum?.signers).toBe(1);
});

test("only a few of a peer's ten thousand signatures are checked, with one warning", async () => {
  const good = await signatureOf(A);
  const badSignatures = Array.from({ length: 4_000 }, () => ({
    oracle: A.address,
    signature: `${good.slice(0, -2)}1d`,
  }));
  const outcome = await withPeerAnswers(2, {
    notes: [{ ...X, signatures: [...badSignatures, { oracle: A.address, signature: good }] }],
    domain: OUR_DOMAIN,
  });
  expect(signersOf(outcome)).toEqual([["L"]]);
  expect(kindsOf(outcome)).toEqual(["signatureRefused", "belowThreshold"]);
});
