import { expect, test } from "vitest";
import { untilAbandoned, answering, pause, sending, silent } from "./fake-peer.ts";
import {
  A,
  answerBy,
  answerOfNotes,
  ask,
  askAgain,
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

/** A failure of the local node. The oracle must pass on its status, 400 or 500, unchanged. */
class LocalFault extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`local fault ${status}`);
    this.status = status;
  }
}

const localFailure = (status: number) => async () => await Promise.reject(new LocalFault(status));

test("queries no peer unless the caller sets requestPeerSignatures", async () => {
  for (const flag of [false, undefined, "true", 1]) {
    const outcome = await ask({
      local: localAnswer(await answerBy([L])),
      peers: [answering(await answerBy([A]))],
      body: { requestPeerSignatures: flag },
    });
    expect(signersOf(outcome)).toEqual([["L"]]);
    expect(outcome.quorum).toBeUndefined();
    expect(outcome.fakePeers[0]?.received).toEqual([]);
  }
});

test("without peers, requestPeerSignatures changes nothing", async () => {
  const local = await answerBy([L]);
  const outcome = await askAgain([], { local: localAnswer(local) });
  expect(outcome.answer).toEqual(local);
  expect(outcome.quorum).toBeUndefined();
});

test("two equal answers suffice, and the call to the slow third oracle is canceled", async () => {
  const outcome = await ask({
    local: localAnswer(await answerBy([L])),
    peers: [answering(await answerBy([A])), silent],
    timeoutMs: 5_000,
  });
  expect(signersOf(outcome)).toEqual([["L", "A"]]);
  expect(outcome.quorum).toEqual({ signers: 2, threshold: 2, local: "ok" });
  expect(outcome.warnings).toEqual([]);
  expect(outcome.tookMs).toBeLessThan(2_000);
  await untilAbandoned(outcome.fakePeers[1]);
});

test("peers alone suffice while this oracle is still working, and its work is canceled", async () => {
  let isCanceled = false;
  const outcome = await ask({
    local: async (signal) => {
      signal.addEventListener("abort", () => (isCanceled = true));
      await pause(3_000);
      return await answerBy([L]);
    },
    peers: [answering(await answerBy([A])), answering(await answerBy([B]))],
  });
  expect(signersOf(outcome)).toEqual([["A", "B"]]);
  expect(outcome.quorum).toEqual({ signers: 2, threshold: 2, local: "pending" });
  expect(outcome.tookMs).toBeLessThan(2_000);
  expect(isCanceled).toBe(true);
});

test("peers alone suffice if this oracle fails, and the failure is logged", async () => {
  const outcome = await ask({
    local: localFailure(500),
    peers: [answering(await answerBy([A])), answering(await answerBy([B]))],
  });
  expect(signersOf(outcome)).toEqual([["A", "B"]]);
  expect(outcome.quorum?.local).toBe("failed");
  expect(outcome.warnings).toMatchObject([{ kind: "localFailed", error: new LocalFault(500) }]);
});

test("returns one peer's answer although two are required, with the numbers in a warning", async () => {
  const outcome = await ask({ local: localFailure(500), peers: [answering(await answerBy([A]))] });
  expect(signersOf(outcome)).toEqual([["A"]]);
  expect(outcome.quorum).toEqual({ signers: 1, threshold: 2, local: "failed" });
  expect(outcome.warnings.at(-1)).toMatchObject({ kind: "belowThreshold", matched: 1, required: 2 });
});

test("if no peer answers, fails with this oracle's own error", async () => {
  for (const status of [400, 500]) {
    const outcome = ask({
      local: localFailure(status),
      peers: [sending(500, "{}"), sending(400, `{"code":"not_found"}`), answering(await answerBy([Z]))],
    });
    await expect(outcome).rejects.toEqual(new LocalFault(status));
  }
});

test("peers that never answer cost only their timeout", async () => {
  const outcome = await ask({
    local: localAnswer(await answerBy([L])),
    peers: [silent, silent, silent],
    timeoutMs: 300,
  });
  expect(signersOf(outcome)).toEqual([["L"]]);
  expect(outcome.quorum).toEqual({ signers: 1, threshold: 2, local: "ok" });
  expect(kindsOf(outcome)).toEqual(["peerSkipped", "peerSkipped", "peerSkipped", "belowThreshold"]);
  expect(outcome.reports.map(({ outcome: peerOutcome }) => peerOutcome)).toEqual([
    "timeout",
    "timeout",
    "timeout",
  ]);
  expect(outcome.tookMs).toBeGreaterThan(290);
  expect(outcome.tookMs).toBeLessThan(1_500);
});

test("this oracle alone meets a threshold of one, and the calls to peers are canceled", async () => {
  const outcome = await ask({
    local: async () => {
      await pause(100);
      return await answerBy([L]);
    },
    peers: [silent, silent],
    threshold: 1,
    timeoutMs: 5_000,
  });
  expect(signersOf(outcome)).toEqual([["L"]]);
  expect(outcome.quorum).toEqual({ signers: 1, threshold: 1, local: "ok" });
  expect(outcome.tookMs).toBeLessThan(2_000);
  for (const peer of outcome.fakePeers) await untilAbandoned(peer);
});

test("a peer that attests another amount is left out and logged", async () => {
  const outcome = await ask({
    local: localAnswer(await answerBy([L])),
    peers: [answering(await answerBy([A], Y)), answering(await answerBy([B]), 50)],
  });
  expect(signersOf(outcome)).toEqual([["L", "B"]]);
  expect(outcome.answer.notes[0]?.amount).toBe(X.amount);
  expect(outcome.warnings).toMatchObject([{ kind: "peerDiverges", peer: 0 }]);
});

test("two peers outvote this oracle, and the difference is logged", async () => {
  const outcome = await ask({
    local: localAnswer(await answerBy([L], Y)),
    peers: [answering(await answerBy([A]), 50), answering(await answerBy([B]), 50)],
  });
  expect(outcome.answer.notes[0]?.amount).toBe(X.amount);
  expect(signersOf(outcome)).toEqual([["A", "B"]]);
  expect(outcome.quorum).toEqual({ signers: 2, threshold: 2, local: "mismatch" });
  expect(kindsOf(outcome)).toEqual(["localDiverges"]);
});

test("of two groups of equal answers with the same size, the one with this oracle wins", async () => {
  for (const [theirs, ours] of [
    [X, Y],
    [Y, X],
  ] as const) {
    const outcome = await ask({
      local: localAnswer(await answerBy([L], ours)),
      peers: [
        answering(await answerBy([A], theirs)),
        answering(await answerBy([B], theirs)),
        answering(await answerBy([C], ours)),
      ],
      threshold: 3,
    });
    expect(outcome.answer.notes[0]?.amount).toBe(ours.amount);
    expect(signersOf(outcome)).toEqual([["L", "C"]]);
    expect(kindsOf(outcome)).toEqual(["peerDiverges", "peerDiverges", "belowThreshold"]);
  }
});

test("prefers three equal answers to a single one, even if four are required", async () => {
  const outcome = await ask({
    local: localAnswer(await answerBy([L], Y)),
    peers: [answering(await answerBy([A])), answering(await answerBy([B])), answering(await answerBy([C]))],
    threshold: 4,
  });
  expect(outcome.answer.notes[0]?.amount).toBe(X.amount);
  expect(signersOf(outcome)).toEqual([["C", "A", "B"]]);
  expect(kindsOf(outcome)).toEqual(["localDiverges", "belowThreshold"]);
});

test("the same notes in another order count as a different answer", async () => {
  const outcome = await ask({
    local: localAnswer(
      await answerOfNotes([
        [X, [L]],
        [Y, [L]],
      ]),
    ),
    peers: [
      answering(
        await answerOfNotes([
          [Y, [A]],
          [X, [A]],
        ]),
      ),
    ],
  });
  expect(signersOf(outcome)).toEqual([["L"], ["L"]]);
  expect(kindsOf(outcome)).toEqual(["peerDiverges", "belowThreshold"]);
});

test("the same note for another contract or chain counts as a different answer", async () => {
  const answer = await answerBy([A]);
  for (const domain of [
    { ...answer.domain, contract: `0x${"0d".repeat(20)}` },
    { ...answer.domain, chainId: "1" },
  ]) {
    const signature = await signatureOf(A, X, domain);
    const note = { ...X, signatures: [{ oracle: A.address, signature }] };
    const outcome = await ask({
      local: localAnswer(await answerBy([L])),
      // Once as an honest oracle of another network answers, and once with a signature that would be valid
      // for this network.
      peers: [answering({ notes: [note], domain }), answering({ ...(await answerBy([B])), domain })],
    });
    expect(signersOf(outcome)).toEqual([["L"]]);
    expect(kindsOf(outcome)).toContain("belowThreshold");
  }
});

test("a peer's explanation is neither compared nor forwarded", async () => {
  const chatty = { ...(await answerBy([A])), comment: "trust me", more: { metadata: "<script>" } };
  const outcome = await ask({
    local: localAnswer({ ...(await answerBy([L])), comment: "ours" }),
    peers: [answering(chatty)],
  });
  expect(signersOf(outcome)).toEqual([["L", "A"]]);
  expect(outcome.answer.comment).toBe("ours");
  expect(Object.keys(outcome.answer).sort()).toEqual(["comment", "domain", "notes"]);
});

test("treats leading zeros and upper-case hex as the same note", async () => {
  const answer = await answerBy([A]);
  const outcome = await ask({
    local: localAnswer(await answerBy([L])),
    peers: [
      answering({
        domain: { ...answer.domain, contract: `0x${"0C".repeat(20)}` },
        notes: answer.notes.map((note) => ({ ...note, amount: "01000", actions: "0xAB01" })),
      }),
    ],
  });
  expect(signersOf(outcome)).toEqual([["L", "A"]]);
  expect(outcome.answer.notes[0]).toMatchObject(X);
});

test("a lagging local node does not hide the signatures of two peers", async () => {
  const emptyAnswer = await answerOfNotes([]);
  const outcome = await ask({
    local: localAnswer(emptyAnswer),
    peers: [answering(await answerBy([A]), 50), answering(await answerBy([B]), 50)],
  });
  expect(signersOf(outcome)).toEqual([["A", "B"]]);
  expect(outcome.quorum?.local).toBe("mismatch");
  expect(kindsOf(outcome)).toEqual(["localDiverges"]);
});

test("lagging peers do not hide this oracle's signature, and an empty answer is not preferred", async () => {
  const emptyAnswer = await answerOfNotes([]);
  const outcome = await ask({
    local: localAnswer(await answerBy([L])),
    peers: [answering(emptyAnswer), answering(emptyAnswer), answering(emptyAnswer)],
  });
  expect(signersOf(outcome)).toEqual([["L"]]);
  expect(kindsOf(outcome)).toEqual(["peerDiverges", "peerDiverges", "peerDiverges", "belowThreshold"]);

  const empty = await ask({ local: localAnswer(emptyAnswer), peers: [answering(emptyAnswer)] });
  expect(empty.answer).toEqual(emptyAnswer);
  expect(empty.quorum).toEqual({ signers: 0, threshold: 2, local: "ok" });

  // An empty answer of a peer proves nothing, so without its own view this oracle has no answer.
  const failed = ask({ local: localFailure(400), peers: [answering(emptyAnswer), answering(emptyAnswer)] });
  await expect(failed).rejects.toEqual(new LocalFault(400));
});
