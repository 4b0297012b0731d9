import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { DEPOSIT_TX, oracleSigner, startWorld, word } from "../../support/oracle-world.ts";

const toClose: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(toClose.splice(0).map(async (close) => await close()));
});

/** A peer that accepts every call and never answers. */
async function silentPeer() {
  const calls = { begun: 0, hungUp: 0 };
  const server = createServer((request, response) => {
    calls.begun++;
    request.resume();
    response.on("close", () => calls.hungUp++);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  toClose.push(
    async () =>
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function until(condition: () => boolean): Promise<void> {
  const endMs = Date.now() + 3_000;
  while (!condition() && Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 10));
}

test("when the caller hangs up, the oracle cancels its calls to peers", async () => {
  const peer = await silentPeer();
  const signer = oracleSigner(0);
  const signers = new Set([signer.address, oracleSigner(1).address]);
  const world = await startWorld({ signer, signers, threshold: 2, peers: [peer.url] });
  toClose.push(async () => await world.close());
  world.origin.addDeposits(DEPOSIT_TX, [{ depositId: word("0a") }]);

  const caller = new AbortController();
  const response = fetch(`${world.url}/attestations/depository-deposits/v1`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ chainId: "origin", transactionId: DEPOSIT_TX, requestPeerSignatures: true }),
    signal: caller.signal,
  });
  await until(() => peer.calls.begun === 1);
  // The call to the peer continues while the caller waits.
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(peer.calls).toEqual({ begun: 1, hungUp: 0 });

  caller.abort();
  await expect(response).rejects.toThrow();
  await until(() => peer.calls.hungUp === 1);
  expect(peer.calls).toEqual({ begun: 1, hungUp: 1 });
});

test("callers with the same concurrent request share one call to a peer, which is aborted when the last caller hangs up", async () => {
  const peer = await silentPeer();
  const signer = oracleSigner(0);
  const signers = new Set([signer.address, oracleSigner(1).address]);
  const world = await startWorld({ signer, signers, threshold: 2, peers: [peer.url] });
  toClose.push(async () => await world.close());
  for (const place of [DEPOSIT_TX, word("d2")]) world.origin.addDeposits(place, [{ depositId: word("0a") }]);

  const ask = (transactionId: string) => {
    const caller = new AbortController();
    const answer = fetch(`${world.url}/attestations/depository-deposits/v1`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ chainId: "origin", transactionId, requestPeerSignatures: true }),
      signal: caller.signal,
    }).catch(() => undefined);
    return { caller, answer };
  };
  const same = [ask(DEPOSIT_TX), ask(DEPOSIT_TX), ask(DEPOSIT_TX)];
  await until(() => peer.calls.begun === 1);
  const other = ask(word("d2"));
  await until(() => peer.calls.begun === 2);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(peer.calls).toEqual({ begun: 2, hungUp: 0 });

  for (const { caller } of same.slice(1)) caller.abort();
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(peer.calls).toEqual({ begun: 2, hungUp: 0 });
  same[0]?.caller.abort();
  await until(() => peer.calls.hungUp === 1);
  expect(peer.calls).toEqual({ begun: 2, hungUp: 1 });
  other.caller.abort();
  await Promise.all([...same, other].map(async ({ answer }) => await answer));
});
