import { afterEach, expect, test } from "vitest";
import { executionSigners } from "../../support/recovered-signers.ts";
import { aChain, DEPOSIT_TX, FakeChain, oracleSigner, startOracleWorld } from "../../support/oracle-world.ts";
import type { OracleWorld, OracleWorldOptions } from "../../support/oracle-world.ts";

// How peers treat an oracle in shadow mode, and what that oracle reports to the operator. Each oracle has its
// own socket.

const worlds: OracleWorld[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map(async (world) => await world.close()));
});

async function startOwnedOracle(options: OracleWorldOptions): Promise<OracleWorld> {
  const world = await startOracleWorld(options);
  worlds.push(world);
  return world;
}

const addresses = [0, 1, 2].map((n) => oracleSigner(n).address);
const quorumOptions = { signers: new Set(addresses), threshold: 2 };
const unreachable = "http://127.0.0.1:9";
const deposit = { chainId: "origin", transactionId: DEPOSIT_TX, requestPeerSignatures: true };

function chains() {
  const origin = new FakeChain(aChain("origin", 1));
  const destination = new FakeChain(aChain("destination", 2));
  origin.addDeposits(DEPOSIT_TX, [{}]);
  return { origin, destination };
}

const reportOf = async (world: OracleWorld) => (await world.get("/shadow/v1/report")).body;

test("does not combine the signature of a peer in shadow mode, and warns the operator", async () => {
  const shared = chains();
  const shadow = await startOwnedOracle({
    ...shared,
    ...quorumOptions,
    signer: oracleSigner(1),
    shadow: true,
  });
  const main = await startOwnedOracle({ ...shared, ...quorumOptions, peers: [shadow.url] });
  const { status, body } = await main.post("depository-deposits", deposit);
  expect(status).toBe(200);
  expect(body.quorum).toEqual({ signers: 1, threshold: 2, local: "ok" });
  expect(await executionSigners(body.execution)).toEqual([addresses[0]]);
  expect(main.warnings.map(({ kind }) => kind)).toEqual(["peerSkipped", "belowThreshold"]);
  expect(main.warnings[0]?.text).toContain("runs in shadow mode");
  // The shadow is still asked, because its own report depends on that.
  expect(shadow.outcomes).toHaveLength(1);
});

test("if one peer is a shadow, the quorum consists of the other oracles", async () => {
  const shared = chains();
  const shadow = await startOwnedOracle({
    ...shared,
    ...quorumOptions,
    signer: oracleSigner(1),
    shadow: true,
  });
  const live = await startOwnedOracle({ ...shared, ...quorumOptions, signer: oracleSigner(2) });
  const main = await startOwnedOracle({
    ...shared,
    ...quorumOptions,
    threshold: 3,
    peers: [shadow.url, live.url],
  });
  const { body } = await main.post("depository-deposits", deposit);
  expect(body.quorum).toEqual({ signers: 2, threshold: 3, local: "ok" });
  expect(await executionSigners(body.execution)).toEqual([addresses[0], addresses[2]].toSorted());
});

test("a shadow whose peers never answer reports them as failed, and no agreement", async () => {
  const main = await startOwnedOracle({ ...chains(), ...quorumOptions, shadow: true, peers: [unreachable] });
  for (const _ of [1, 2]) await main.post("depository-deposits", deposit);
  expect(await reportOf(main)).toMatchObject({
    attestations: 2,
    local: { ok: 0, alone: 2, failed: 0, mismatch: 0, pending: 0 },
    agreement: null,
    peers: [{ name: "127.0.0.1:9", answered: 0, failed: 2, diverged: 0 }],
  });
});

test("an answer with nothing to sign does not count as agreement of a shadow", async () => {
  const shared = chains();
  shared.origin.addDeposits(DEPOSIT_TX, []);
  const live = await startOwnedOracle({ ...shared, ...quorumOptions, signer: oracleSigner(1) });
  const main = await startOwnedOracle({ ...shared, ...quorumOptions, shadow: true, peers: [live.url] });
  expect((await main.post("depository-deposits", deposit)).status).toBe(200);
  expect(await reportOf(main)).toMatchObject({ local: { ok: 0, alone: 1 }, agreement: null });
});

test("reports a shadow that contradicts its only peer as diverged, with no agreement", async () => {
  const otherChains = chains();
  otherChains.origin.addDeposits(DEPOSIT_TX, [{ amount: 999n }]);
  const live = await startOwnedOracle({ ...otherChains, ...quorumOptions, signer: oracleSigner(1) });
  const main = await startOwnedOracle({ ...chains(), ...quorumOptions, shadow: true, peers: [live.url] });
  await main.post("depository-deposits", deposit);
  expect(await reportOf(main)).toMatchObject({
    local: { ok: 0, alone: 1 },
    agreement: null,
    peers: [{ answered: 1, failed: 0, diverged: 1 }],
  });
});

test("agreement of a shadow counts only attestations that another oracle signed too", async () => {
  const shared = chains();
  const live = await startOwnedOracle({ ...shared, ...quorumOptions, signer: oracleSigner(1) });
  const main = await startOwnedOracle({
    ...shared,
    ...quorumOptions,
    shadow: true,
    peers: [live.url, unreachable],
    threshold: 3,
  });
  for (const _ of [1, 2, 3]) await main.post("depository-deposits", deposit);
  const report = await reportOf(main);
  expect(report).toMatchObject({ attestations: 3, local: { ok: 3, alone: 0 }, agreement: 1 });
  expect(report).toMatchObject({
    peers: expect.arrayContaining([
      { name: new URL(live.url).host, answered: 3, failed: 0, diverged: 0 },
      { name: "127.0.0.1:9", answered: 0, failed: 3, diverged: 0 },
    ]),
  });
});
