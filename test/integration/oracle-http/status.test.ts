import { RpcFault } from "@causeway/chains";
import type { OracleStatus } from "@causeway/wire";
import { afterEach, expect, test } from "vitest";
import { aHub, oracleSigner, startOracleWorld } from "../../support/oracle-world.ts";
import type { OracleWorld, OracleWorldOptions } from "../../support/oracle-world.ts";

const worlds: OracleWorld[] = [];
async function aWorld(options: OracleWorldOptions = {}): Promise<OracleWorld> {
  const world = await startOracleWorld(options);
  worlds.push(world);
  return world;
}
afterEach(async () => {
  await Promise.all(worlds.splice(0).map(async (world) => await world.close()));
});

async function statusOf(world: OracleWorld): Promise<OracleStatus> {
  const { status, text } = await world.get("/status/v1");
  expect(status).toBe(200);
  return JSON.parse(text) as OracleStatus;
}

test("names the signer, its place in the hub's multisig, and the final block of every chain", async () => {
  const world = await aWorld({ signers: new Set([oracleSigner(0).address]), shadow: true });
  expect(await statusOf(world)).toEqual({
    signer: oracleSigner(0).address,
    shadow: true,
    quorum: { threshold: 1, signers: 1 },
    hub: {
      id: "hub",
      chainId: aHub.chainId,
      status: "reachable",
      finalBlock: { height: 7, ageSeconds: 4 },
      multisig: { isSigner: true, threshold: 2 },
    },
    chains: [
      ...["origin", "destination"].map((id) => ({
        id,
        vmType: "ethereum-vm",
        status: "reachable",
        finalBlock: { height: 42, ageSeconds: 14 },
        lastAnswerSecondsAgo: null,
      })),
      { id: "solana", vmType: "solana-vm", status: "unsupported", lastAnswerSecondsAgo: null },
    ],
    checkedSecondsAgo: 0,
  });
});

test("reports an oracle that the hub does not count, and a hub whose multisig is not configured", async () => {
  const stranger = await aWorld({ signer: oracleSigner(3) });
  expect((await statusOf(stranger)).hub.multisig).toEqual({ isSigner: false, threshold: 2 });
  const { oracleMultisigAddress: _, ...hubWithoutMultisig } = aHub;
  const unknown = await aWorld({ hub: { ...hubWithoutMultisig, oracleMultisigAddress: undefined } });
  expect((await statusOf(unknown)).hub.multisig).toBeNull();
});

test("the status route answers even if the hub and a chain are unavailable, and reveals only the kind of fault", async () => {
  const world = await aWorld();
  const wrongChain = new RpcFault({ kind: "wrongChain", method: "eth_chainId", reason: "secret reason" });
  world.hubHead.read = async () => await Promise.reject(wrongChain);
  world.origin.trouble = async () => await Promise.reject(new Error("http://user:hunter2@node"));
  const report = await statusOf(world);
  expect(report.hub).toMatchObject({ status: "unreachable", problem: "wrongChain" });
  expect(report.chains[0]).toMatchObject({ id: "origin", status: "unreachable", problem: "timeout" });
  expect(report.chains[1]).toMatchObject({ id: "destination", status: "reachable" });
  expect(JSON.stringify(report)).not.toMatch(/hunter2|secret/);
});

test("a chain that does not answer delays the report by at most three seconds", async () => {
  const world = await aWorld();
  world.origin.trouble = async () => await new Promise(() => undefined);
  const startedAtMs = performance.now();
  expect((await statusOf(world)).chains[0]).toMatchObject({ status: "unreachable", problem: "timeout" });
  expect(performance.now() - startedAtMs).toBeLessThan(6_000);
}, 10_000);

test("callers share one status report for ten seconds, for which the chains are read once", async () => {
  const world = await aWorld();
  await Promise.all(Array.from({ length: 20 }, async () => await statusOf(world)));
  world.clock.nowMs += 9_999;
  expect((await statusOf(world)).checkedSecondsAgo).toBe(9);
  expect(world.origin.readCount).toBe(1);
  world.clock.nowMs += 1;
  expect((await statusOf(world)).checkedSecondsAgo).toBe(0);
  expect(world.origin.readCount).toBe(2);
});

test("the status route needs a key if keys are set", async () => {
  const world = await aWorld({ apiKeys: new Map([["key", "caller"]]) });
  expect((await world.get("/status/v1")).status).toBe(401);
  expect((await world.get("/status/v1", { "x-api-key": "key" })).status).toBe(200);
});
