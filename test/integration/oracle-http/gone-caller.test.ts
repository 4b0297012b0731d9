import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { DEPOSIT_TX, oracleSigner, startOracleWorld, word } from "../../support/oracle-world.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map(async (close) => await close()));
});

/** A peer that accepts every call and never answers. */
async function startSilentPeer() {
  const calls = { begun: 0, hungUp: 0 };
  const server = createServer((request, response) => {
    calls.begun++;
    request.resume();
    response.on("close", () => calls.hungUp++);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(
    async () =>
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function waitUntil(condition: () => boolean): Promise<void> {
  const endMs = Date.now() + 3_000;
  while (!condition() && Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 10));
}

test("when the caller hangs up, the oracle cancels its calls to peers", async () => {
  const peer = await startSilentPeer();
  const signer = oracleSigner(0);
  const signers = new Set([signer.address, oracleSigner(1).address]);
  const world = await startOracleWorld({ signer, signers, threshold: 2, peers: [peer.url] });
  cleanups.push(async () => await world.close());
  world.origin.addDeposits(DEPOSIT_TX, [{ depositId: word("0a") }]);

  const caller = new AbortController();
  const response = fetch(`${world.url}/attestations/depository-deposits/v1`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ chainId: "origin", transactionId: DEPOSIT_TX, requestPeerSignatures: true }),
    signal: caller.signal,
  });
  await waitUntil(() => peer.calls.begun === 1);
  // The call to the peer continues while the caller waits.
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(peer.calls).toEqual({ begun: 1, hungUp: 0 });

  caller.abort();
  await expect(response).rejects.toThrow();
  await waitUntil(() => peer.calls.hungUp === 1);
  expect(peer.calls).toEqual({ begun: 1, hungUp: 1 });
});

test("callers with the same concurrent request share one call to a peer, which is aborted when the last caller hangs up", async () => {
  const peer = await startSilentPeer();
  const signer = oracleSigner(0);
  const signers = new Set([signer.address, oracleSigner(1).address]);
  const world = await startOracleWorld({ signer, signers, threshold: 2, peers: [peer.url] });
  cleanups.push(async () => await world.close());
  for (const transactionId of [DEPOSIT_TX, word("d2")])
    world.origin.addDeposits(transactionId, [{ depositId: word("0a") }]);

  const post = (transactionId: string) => {
    const caller = new AbortController();
    const answer = fetch(`${world.url}/attestations/depository-deposits/v1`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ chainId: "origin", transactionId, requestPeerSignatures: true }),
      signal: caller.signal,
    }).catch(() => undefined);
    return { caller, answer };
  };
  const sharing = [post(DEPOSIT_TX), post(DEPOSIT_TX), post(DEPOSIT_TX)];
  await waitUntil(() => peer.calls.begun === 1);
  const otherRequest = post(word("d2"));
  await waitUntil(() => peer.calls.begun === 2);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(peer.calls).toEqual({ begun: 2, hungUp: 0 });

  for (const { caller } of sharing.slice(1)) caller.abort();
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(peer.calls).toEqual({ begun: 2, hungUp: 0 });
  sharing[0]?.caller.abort();
  await waitUntil(() => peer.calls.hungUp === 1);
  expect(peer.calls).toEqual({ begun: 2, hungUp: 1 });
  otherRequest.caller.abort();
  await Promise.all([...sharing, otherRequest].map(async ({ answer }) => await answer));
});
