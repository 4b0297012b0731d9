import type { RequestId } from "@causeway/domain";
import { expect, test } from "vitest";
import type { StatusView } from "./status-view.port.ts";
import { keptStatuses } from "./kept-statuses.ts";

const A = `0x${"a1".repeat(32)}` as const;
const B = `0x${"b2".repeat(32)}` as const;

function view(requestId: RequestId, status: StatusView["status"], final = false): StatusView {
  return {
    requestId,
    status,
    inTxHashes: [],
    txHashes: [],
    refundTxHashes: [],
    updatedAtMs: 1,
    quoteCreatedAtMs: 1,
    originChainId: 1,
    destinationChainId: 2,
    failReason: "N/A",
    refundFailReason: "N/A",
    final,
    fundsAt: "user",
    nextAction: "wait_for_fill",
    pollAfterMs: 1000,
  };
}

/** A store that answers when it is told to, and a feed that says what it is told to. */
function world(limit = 10) {
  let nowMs = 0;
  /** How long ago the feed gave its last sign of life; undefined: it gave none. */
  const feed: { silentMs: number | undefined } = { silentMs: 0 };
  let forget: (requestId: RequestId | undefined) => void = () => undefined;
  const stored = new Map<RequestId, StatusView>();
  const reads: { requestId: RequestId; answer: () => void }[] = [];
  let isSlow = false;
  const ask = keptStatuses(
    {
      onChange: (listener) => ((forget = listener), () => undefined),
      heardUpToMs: () => (feed.silentMs === undefined ? undefined : nowMs - feed.silentMs),
    },
    { nowMs: () => nowMs },
    async (requestId) => {
      const read = stored.get(requestId);
      if (isSlow) await new Promise<void>((answer) => reads.push({ requestId, answer }));
      else reads.push({ requestId, answer: () => undefined });
      return read;
    },
    { limit, heardWithinMs: 2_500 },
  );
  return {
    ask,
    feed,
    stored,
    reads,
    pass: (ms: number) => (nowMs += ms),
    changed: (requestId: RequestId | undefined) => forget(requestId),
    slow: () => (isSlow = true),
  };
}

test("a status that nobody changed is read once in ten seconds, however often it is asked for", async () => {
  const { ask, stored, reads, pass } = world();
  stored.set(A, view(A, "pending"));
  for (let times = 0; times < 5; times++) expect((await ask(A))?.status).toBe("pending");
  pass(9_999);
  await ask(A);
  expect(reads).toHaveLength(1);
  pass(1);
  await ask(A);
  expect(reads).toHaveLength(2);
});

test("reads a status again once its payment deadline has passed", async () => {
  const { ask, stored, reads, pass } = world();
  stored.set(A, { ...view(A, "waiting"), nextAction: "send_deposit", payByMs: 300 });
  await ask(A);
  pass(300);
  await ask(A);
  expect(reads).toHaveLength(1);
  pass(1);
  await ask(A);
  expect(reads).toHaveLength(2);
});

test.each([undefined, 2_501])(
  "while changes may go unheard (the last sign of life %s ms ago) a status is read once a second",
  async (silentMs) => {
    const { ask, feed, stored, reads, pass } = world();
    stored.set(A, view(A, "pending"));
    await ask(A);
    feed.silentMs = silentMs;
    pass(999);
    await ask(A);
    expect(reads).toHaveLength(1);
    pass(1);
    await ask(A);
    expect(reads).toHaveLength(2);
  },
);

test("after the clock was put back nothing that was kept is given: it may be of any age", async () => {
  const { ask, feed, stored, reads, pass } = world();
  stored.set(A, view(A, "pending"));
  stored.set(B, view(B, "success", true));
  await Promise.all([ask(A), ask(B)]);
  pass(-1);
  await Promise.all([ask(A), ask(B)]);
  expect(reads).toHaveLength(4);
  // Of what was read since, only the feed's sign of life is from before.
  feed.silentMs = -30_000;
  pass(1_000);
  await Promise.all([ask(A), ask(B)]);
  expect(reads.map(({ requestId }) => requestId)).toEqual([A, B, A, B, A]);
});

test("one late sign of life of the feed costs no reading, and what it kept meanwhile is good when it is heard again", async () => {
  const { ask, feed, stored, reads, pass } = world();
  stored.set(A, view(A, "pending"));
  await ask(A);
  feed.silentMs = 2_500;
  pass(5_000);
  await ask(A);
  expect(reads).toHaveLength(1);
});

test("a status that tells of another request, whose changes are announced by another id, is read once a second until it is final", async () => {
  const { ask, stored, reads, pass } = world();
  stored.set(A, { ...view(A, "pending"), supersededByRequestId: B });
  await ask(A);
  pass(999);
  await ask(A);
  expect(reads).toHaveLength(1);
  pass(1);
  stored.set(A, { ...view(A, "success", true), supersededByRequestId: B });
  await ask(A);
  expect(reads).toHaveLength(2);
  pass(59_999);
  await ask(A);
  expect(reads).toHaveLength(2);
});

test("a status is given in the turn in which it is asked for, once it is kept", async () => {
  const { ask, stored } = world();
  stored.set(A, view(A, "pending"));
  expect(ask(A)).toBeInstanceOf(Promise);
  await Promise.resolve();
  await Promise.resolve();
  expect(ask(A)).toBe(stored.get(A));
});

test("a change is seen by the next who asks", async () => {
  const { ask, stored, changed } = world();
  stored.set(A, view(A, "pending"));
  await ask(A);
  stored.set(A, view(A, "success"));
  changed(A);
  expect((await ask(A))?.status).toBe("success");
});

test("what was read while it changed is answered and not kept", async () => {
  const { ask, stored, changed, reads, slow } = world();
  stored.set(A, view(A, "pending"));
  slow();
  const asked = ask(A);
  stored.set(A, view(A, "success"));
  changed(A);
  reads[0]?.answer();
  expect((await asked)?.status).toBe("pending");
  const again = ask(A);
  reads[1]?.answer();
  expect((await again)?.status).toBe("success");
});

test("of two readings at once the one that began before a change does not replace the other", async () => {
  const { ask, stored, changed, reads, slow } = world();
  stored.set(A, view(A, "pending"));
  slow();
  const before = ask(A);
  stored.set(A, view(A, "success"));
  changed(A);
  const after = ask(A);
  reads[1]?.answer();
  await after;
  reads[0]?.answer();
  await before;
  expect((await ask(A))?.status).toBe("success");
});

test("when changes may have gone unheard nothing that was kept is answered", async () => {
  const { ask, stored, changed, reads } = world();
  stored.set(A, view(A, "pending")).set(B, view(B, "success", true));
  await ask(A);
  await ask(B);
  changed(undefined);
  await ask(A);
  await ask(B);
  expect(reads).toHaveLength(4);
});

test("an unknown request is looked for each time: it may be quoted in the next moment", async () => {
  const { ask, stored } = world();
  expect(await ask(A)).toBeUndefined();
  stored.set(A, view(A, "waiting"));
  expect((await ask(A))?.status).toBe("waiting");
});

test("one that has ended for good is kept longer, and of too many the oldest is forgotten", async () => {
  const { ask, stored, reads, pass } = world(1);
  stored.set(A, view(A, "success", true)).set(B, view(B, "success", true));
  await ask(A);
  pass(59_000);
  await ask(A);
  expect(reads).toHaveLength(1);
  await ask(B);
  await ask(A);
  expect(reads).toHaveLength(3);
});
