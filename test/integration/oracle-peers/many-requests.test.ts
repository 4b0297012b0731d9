import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { untilAbandoned, answering, pause, silent, startPeer } from "./fake-peer.ts";
import { A, answerBy, ask, askAgain, B, C, connect, L, localAnswer, signersOf } from "./oracles.ts";

test("cancels everything immediately when the caller hangs up", async () => {
  const caller = new AbortController();
  const peer = await startPeer(silent);
  const hangUp = new Error("the caller hung up");
  let localSignal: AbortSignal | undefined;
  const outcome = askAgain([connect()(peer)], {
    // Local work that ignores the signal must not delay the request either.
    local: async (signal) => {
      localSignal = signal;
      return await new Promise<never>(() => undefined);
    },
    signal: caller.signal,
    timeoutMs: 10_000,
  });
  while (peer.received.length === 0) await pause(5);
  caller.abort(hangUp);
  await expect(outcome).rejects.toBe(hangUp);
  await untilAbandoned(peer);
  expect(localSignal?.aborted).toBe(true);
  expect(getEventListeners(caller.signal, "abort")).toEqual([]);
});

test("a caller that has already hung up causes no work", async () => {
  const peer = await startPeer(silent);
  let hasWorked = false;
  const outcome = askAgain([connect()(peer)], {
    local: async () => {
      hasWorked = true;
      return await answerBy([L]);
    },
    signal: AbortSignal.abort(new Error("gone")),
  });
  await expect(outcome).rejects.toThrow("gone");
  expect([hasWorked, peer.received.length]).toEqual([false, 0]);
});

test("a dead peer delays fifty concurrent requests by one timeout, and leaves no connections open", async () => {
  const alive = await startPeer(answering(await answerBy([A])));
  const dead = await startPeer(silent);
  const peers = [alive, dead].map(connect());
  const stopping = new AbortController();
  const local = localAnswer(await answerBy([L]));
  const startedAtMs = performance.now();
  const outcomes = await Promise.all(
    Array.from(
      { length: 50 },
      async () => await askAgain(peers, { local, threshold: 3, timeoutMs: 500, signal: stopping.signal }),
    ),
  );
  expect(performance.now() - startedAtMs).toBeLessThan(2_500);
  for (const outcome of outcomes) expect(signersOf(outcome)).toEqual([["L", "A"]]);
  expect(getEventListeners(stopping.signal, "abort")).toEqual([]);
  // The connections to the dead peer are closed. Those to the live peer are kept for the next request.
  await pause(100);
  expect(dead.connections.open.size).toBe(0);
  expect(alive.connections.open.size).toBeGreaterThan(0);
  expect(alive.connections.open.size).toBeLessThanOrEqual(50);
  await Promise.all(peers.map(async (peer) => await peer.close()));
  await pause(100);
  expect(alive.connections.open.size).toBe(0);
});

test("fifty requests that do not need the dead peer do not wait for it", async () => {
  const peers = [await startPeer(answering(await answerBy([A]))), await startPeer(silent)].map(connect());
  const local = localAnswer(await answerBy([L]));
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, async () => await askAgain(peers, { local, timeoutMs: 10_000 })),
  );
  for (const outcome of outcomes) expect(outcome.tookMs).toBeLessThan(3_000);
});

test("measures how much time querying peers adds to the slowest required answer", async () => {
  const delays = [10, 20, 30];
  const local = localAnswer(await answerBy([L]));
  const answers = await Promise.all([A, B, C].map(async (signer) => await answerBy([signer])));
  const running = await Promise.all(
    answers.map(async (answer, index) => await startPeer(answering(answer, delays[index]))),
  );
  const peers = running.map(connect());
  const added: number[] = [];
  for (let n = 0; n < 40; n++) {
    // With a threshold of three, the second peer's answer is the last required one.
    const { tookMs } = await askAgain(peers, { local, threshold: 3, timeoutMs: 2_000 });
    if (n >= 10) added.push(tookMs - 20);
  }
  added.sort((a, b) => a - b);
  const percentile = (share: number): string => (added[Math.floor(added.length * share)] ?? 0).toFixed(1);
  process.stdout.write(
    `oracle peers: a quorum adds ${percentile(0.5)} ms (p50), ${percentile(0.95)} ms (p95)\n`,
  );
  expect(added).toHaveLength(30);
});

test("queries peers while this oracle works, and not afterwards", async () => {
  const outcome = await ask({
    local: async () => {
      await pause(200);
      return await answerBy([L]);
    },
    peers: [answering(await answerBy([A]), 200), answering(await answerBy([B]), 200)],
    threshold: 3,
  });
  expect(outcome.quorum?.signers).toBe(3);
  expect(outcome.tookMs).toBeLessThan(380);
});
