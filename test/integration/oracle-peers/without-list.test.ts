import { readSignerPolicy } from "@causeway/attest";
import { expect, test } from "vitest";
import { answering, silent } from "./fake-peer.ts";
import {
  A,
  answerBy,
  answerOfNotes,
  ask,
  B,
  kindsOf,
  L,
  localAnswer,
  signersOf,
  X,
  Y,
  Z,
} from "./oracles.ts";

test("waits for all peers and combines equal answers", async () => {
  const outcome = await ask({
    local: localAnswer(await answerBy([L])),
    peers: [answering(await answerBy([A])), answering(await answerBy([B], Y)), silent],
    list: "none",
    threshold: 1,
    timeoutMs: 300,
  });
  expect(signersOf(outcome)).toEqual([["L", "A"]]);
  expect(outcome.quorum).toEqual({ signers: 2, threshold: 1, local: "ok" });
  expect(outcome.warnings).toMatchObject([
    { kind: "peerSkipped", peer: 2 },
    { kind: "peerDiverges", peer: 1 },
  ]);
  expect(outcome.tookMs).toBeGreaterThan(290);
});

test("counts every valid signature, but none that its claimed signer did not make", async () => {
  const lying = { ...(await answerBy([A])) };
  const outcome = await ask({
    local: localAnswer(await answerBy([L])),
    peers: [
      answering(await answerBy([Z])),
      answering({
        ...lying,
        notes: lying.notes.map((note) => ({
          ...note,
          signatures: note.signatures.map(({ signature }) => ({ oracle: B.address, signature })),
        })),
      }),
    ],
    list: "none",
  });
  expect(signersOf(outcome)).toEqual([["L", "Z"]]);
});

test("a threshold without a list is reported at the start, and ignored", async () => {
  const { policy, problems, warnings } = readSignerPolicy({
    signers: undefined,
    threshold: "3",
    localSigner: L.address,
  });
  expect(problems).toEqual([]);
  expect(warnings).toEqual(["ORACLE_SIGNERS_THRESHOLD is ignored because ORACLE_SIGNERS is not set"]);
  expect(policy?.signers).toBeUndefined();
  const outcome = await ask({
    local: localAnswer(await answerBy([L])),
    peers: [answering(await answerBy([A]))],
    list: "none",
    threshold: 3,
  });
  expect(signersOf(outcome)).toEqual([["L", "A"]]);
  expect(outcome.warnings).toEqual([]);
});

test("if this oracle fails, returns its error, whatever the peers answer, and cancels the calls to peers", async () => {
  const fault = new Error("the local node is down");
  const answers = [answering(await answerBy([A])), answering(await answerBy([B])), silent];
  const startedAtMs = performance.now();
  const outcome = ask({
    local: async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw fault;
    },
    peers: answers,
    list: "none",
    timeoutMs: 5_000,
  });
  await expect(outcome).rejects.toBe(fault);
  expect(performance.now() - startedAtMs).toBeLessThan(2_000);
});

test("if this oracle finds nothing to sign, its answer says so, whatever the peers answer", async () => {
  const outcome = await ask({
    local: localAnswer(await answerOfNotes([])),
    peers: [answering(await answerBy([A, B], X))],
    list: "none",
  });
  expect(outcome.answer.notes).toEqual([]);
  expect(kindsOf(outcome)).toEqual(["peerDiverges"]);
});
