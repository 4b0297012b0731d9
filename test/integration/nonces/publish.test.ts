import { rawKeySigner } from "@causeway/attest";
import { genericMappingAbi } from "@causeway/contracts";
import { createMetrics } from "@causeway/service-kit";
import type { Hex } from "@causeway/domain";
import { parseEventLogs } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mappingGauges } from "../../../apps/api/src/telemetry/mapping-gauges.ts";
import type { MappingServices } from "../../../apps/api/src/settlement/nonce-mappings/mapping-services.port.ts";
import type { NonceAuthorization } from "../../../apps/api/src/chains/nonce-mappings.port.ts";
import type { AttestationOracle, OracleAnswer } from "../../../apps/api/src/settlement/oracles.port.ts";
import { submitMappings } from "../../../apps/api/src/settlement/nonce-mappings/submit-mappings.ts";
import { signMappings } from "../../../apps/api/src/settlement/nonce-mappings/sign-mappings.ts";
import { submitExecutions } from "../../../apps/api/src/settlement/submit-executions.ts";
import { settlementPolicy } from "../settlement/settlement-world.ts";
import { startNonceWorld, type NonceWorld } from "./nonce-world.ts";
import { someHash } from "../../support/terms.ts";

// A wallet's mapping reaches the hub although processes crash, run concurrently or get false answers.

let world: NonceWorld;
beforeAll(async () => {
  world = await startNonceWorld();
});
afterAll(async () => await world.stop());

async function anAuthorization(): Promise<NonceAuthorization> {
  // A new wallet each time, because an account may have only ten authorizations without a transfer.
  const wallet = rawKeySigner(someHash());
  const authorization = await world.authorization(wallet, await world.quote(wallet.address));
  await world.authorize(authorization);
  return authorization;
}

/** The number of entries that the contract set and left out since a block. */
async function entriesSince(fromBlock: bigint): Promise<Record<"EntrySet" | "EntryLeftOut", number>> {
  const logs = parseEventLogs({
    abi: genericMappingAbi,
    logs: await world.hubClient.getLogs({ address: world.mapping, fromBlock }),
  });
  const count = (name: string): number => logs.filter(({ eventName }) => eventName === name).length;
  return { EntrySet: count("EntrySet"), EntryLeftOut: count("EntryLeftOut") };
}
const nextBlock = async (): Promise<bigint> => (await world.hubClient.getBlockNumber()) + 1n;

async function submitMappingsAndExecutions(): Promise<void> {
  await submitMappings(world.services);
  await submitExecutions(world.settlementServices);
}

class Crashed extends Error {}

/**
 * The services of a process that crashes at the moment with the index `crashAt`, before or after an external
 * action.
 */
function crashing(crashAt: number): { readonly services: MappingServices; readonly moments: string[] } {
  const moments: string[] = [];
  const moment = (name: string): void => {
    if (moments.length > crashAt) throw new Crashed("the process is dead");
    moments.push(name);
    if (moments.length > crashAt) throw new Crashed(name);
  };
  const interceptCalls = <T extends object>(target: T, prefix: string, names: readonly string[]): T =>
    new Proxy(target, {
      get: (inner, name): unknown => {
        const member: unknown = Reflect.get(inner, name);
        if (typeof member !== "function" || !names.includes(String(name))) return member;
        return async (...args: unknown[]): Promise<unknown> => {
          moment(`before ${prefix}.${String(name)}`);
          const result: unknown = await Reflect.apply(member, inner, args);
          moment(`after ${prefix}.${String(name)}`);
          return result;
        };
      },
    });
  const { services } = world;
  const { lane } = services.hub;
  return {
    moments,
    services: {
      ...services,
      uow: interceptCalls(services.uow, "uow", ["run"]),
      signer: interceptCalls(services.signer, "signer", ["signDigest"]),
      hub: {
        ...interceptCalls(services.hub, "hub", ["executed"]),
        lane: {
          ...interceptCalls(lane, "hub", ["final", "nativeBalance"]),
          connection: {
            reader: interceptCalls(lane.connection.reader, "hub", ["nonce", "gasPrices", "head"]),
            writer: interceptCalls(lane.connection.writer, "hub", ["broadcast"]),
          },
        },
      },
      mappings: interceptCalls(services.mappings, "mappings", ["entry"]),
      oracles: services.oracles.map((oracle) => interceptCalls(oracle, "oracle", ["ask"])),
      nonceMappingStore: interceptCalls(services.nonceMappingStore, "nonceMappingStore", [
        "toSign",
        "toSubmit",
        "submitted",
      ]),
    },
  };
}

test("after a crash at any step, the next process continues, and the mapping is set once", async () => {
  const crashMoments: string[] = [];
  for (let crashAt = 0; ; crashAt++) {
    const fromBlock = await nextBlock();
    const authorization = await anAuthorization();
    const { services, moments } = crashing(crashAt);
    let hasCrashed = false;
    try {
      for (const blocks of [1, 2, 1]) {
        await world.round(services);
        await world.mineHub(blocks);
      }
    } catch (error) {
      if (!(error instanceof Crashed)) throw error;
      hasCrashed = true;
    }
    hasCrashed ||= moments.length > crashAt;
    world.clock.forward(400_000);
    await world.untilQuiet();
    const moment = moments.at(-1) ?? "nothing";
    expect((await world.rowOf(authorization)).state, moment).toBe("published");
    expect(await entriesSince(fromBlock), moment).toEqual({ EntrySet: 1, EntryLeftOut: 0 });
    if (!hasCrashed) break;
    crashMoments.push(moment);
  }
  expect(crashMoments.length).toBeGreaterThan(15);
  expect(new Set(crashMoments)).toContain("after hub.broadcast");
}, 90_000);

test("many mappings share a transaction, each once, even if several processes run concurrently", async () => {
  const fromBlock = await nextBlock();
  const sentBefore = await world.hubClient.getTransactionCount({ address: world.services.signer.address });
  const authorizations: NonceAuthorization[] = [];
  for (let n = 0; n < 12; n++) authorizations.push(await anAuthorization());
  await Promise.all([1, 2, 3].map(async () => signMappings(world.services, new AbortController().signal)));
  const plans = await Promise.allSettled([1, 2, 3].map(async () => submitMappings(world.services)));
  expect(plans.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
  await world.untilQuiet();
  for (const authorization of authorizations)
    expect((await world.rowOf(authorization)).state).toBe("published");
  expect(await entriesSince(fromBlock)).toEqual({ EntrySet: 12, EntryLeftOut: 0 });
  expect(await world.hubClient.getTransactionCount({ address: world.services.signer.address })).toBe(
    sentBefore + 1,
  );
});

test("a signature that the hub rejects is requested again, and delays no other mapping", async () => {
  const [bad, good] = [await anAuthorization(), await anAuthorization()];
  await signMappings(world.services, new AbortController().signal);
  await world.pool.query("update nonce_mappings set hub_signature = $2 where nonce = $1", [
    bad.nonce.toString(),
    `0x${"11".repeat(130)}`,
  ]);
  const fromBlock = await nextBlock();
  await world.round();
  await world.mineHub(4);
  // The first round finds the transaction final. The second round finds the mappings that the transaction
  // omitted.
  for (let round = 0; round < 2; round++) await submitMappingsAndExecutions();
  expect((await world.rowOf(good)).state).toBe("published");
  expect((await world.onHub(bad)).setAt).toBe(0n);
  expect((await world.rowOf(bad)).state).toBe("stored");
  expect(world.events.of("mapping_left_out")).toHaveLength(1);
  world.clock.forward(400_000);
  await world.untilQuiet();
  expect((await world.rowOf(bad)).state).toBe("published");
  expect(await entriesSince(fromBlock)).toEqual({ EntrySet: 2, EntryLeftOut: 1 });
});

test("the metrics report how many mappings wait, and how long", async () => {
  const { registry } = createMetrics("test");
  mappingGauges(registry, world.services.nonceMappingStore, world.clock);
  const metricValue = async (name: string, state: string): Promise<number> => {
    const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] };
    return Number(values.find(({ labels }) => labels["state"] === state)?.value);
  };
  expect(await metricValue("causeway_mappings_waiting", "stored")).toBe(0);
  await anAuthorization();
  await anAuthorization();
  world.clock.forward(60_000);
  expect(await metricValue("causeway_mappings_waiting", "stored")).toBe(2);
  expect(await metricValue("causeway_mappings_oldest_seconds", "stored")).toBeGreaterThanOrEqual(60);
  expect(await metricValue("causeway_mappings_waiting", "signed")).toBe(0);
  await signMappings(world.services, new AbortController().signal);
  expect(await metricValue("causeway_mappings_waiting", "signed")).toBe(2);
  await world.untilQuiet();
  expect(await metricValue("causeway_mappings_waiting", "signed")).toBe(0);
});

test("a mapping for a chain that is no longer configured waits, and delays no other mapping", async () => {
  const unconfigured = await anAuthorization();
  await signMappings(world.services, new AbortController().signal);
  const withoutChain = { ...world.services, chainName: () => undefined };
  await submitMappings(withoutChain);
  expect(await world.rowOf(unconfigured)).toMatchObject({ state: "signed", tries: 1 });
  const unsigned = await anAuthorization();
  await signMappings(withoutChain, new AbortController().signal);
  expect(await world.rowOf(unsigned)).toMatchObject({ state: "stored", tries: 1 });
  expect(await world.services.nonceMappingStore.findUnsubmitted(world.clock.nowMs(), 10)).toEqual([]);
  world.clock.forward(settlementPolicy.rejectedRetryMs + 1);
  await world.untilQuiet();
  for (const authorization of [unconfigured, unsigned])
    expect((await world.rowOf(authorization)).state).toBe("published");
});

function withAnswers(...answers: readonly ((body: object) => Promise<OracleAnswer>)[]): MappingServices {
  const oracles = answers.map((answer, index): AttestationOracle => ({
    name: `oracle ${index}`,
    ask: async (_path, body) => await answer(body),
  }));
  return { ...world.services, oracles };
}
const honest = async (body: object): Promise<OracleAnswer> => {
  const [oracle] = world.services.oracles;
  if (oracle === undefined) throw new Error("no oracle is configured");
  return await oracle.ask("/attestations/signatures/nonce-mapping/v2", body, new AbortController().signal);
};
const withChangedMapping =
  (change: (mapping: Record<string, unknown>) => void) =>
  async (body: object): Promise<OracleAnswer> => {
    const answer = await honest(body);
    if (answer.kind !== "answer") return answer;
    const json = structuredClone(answer.json) as { genericMapping: Record<string, unknown> };
    change(json.genericMapping);
    return { kind: "answer", json };
  };
const unavailable = async (): Promise<OracleAnswer> => ({ kind: "unavailable", reason: "no connection" });
const refusing = async (): Promise<OracleAnswer> => ({
  kind: "refused",
  code: "rejected",
  message: "signature is not the wallet's signature of this mapping",
  retryAfterMs: undefined,
});

test.each<[string, (mapping: Record<string, unknown>) => void]>([
  ["signatures by unknown signers", (m) => void (m["signatures"] = [aSignature(`0x${"12".repeat(65)}`)])],
  ["one signature twice", (m) => void (m["signatures"] = twice(m["signatures"]))],
  ["no signatures", (m) => void (m["signatures"] = [])],
  ["another format", (m) => void delete m["user"]],
])("rejects an oracle's answer with %s, and queries another oracle", async (_what, change) => {
  const authorization = await anAuthorization();
  const liesBefore = world.events.of("oracle_lied").length;
  await signMappings(withAnswers(withChangedMapping(change)), new AbortController().signal);
  expect(await world.rowOf(authorization)).toMatchObject({ state: "stored", tries: 1 });
  expect(world.events.of("oracle_lied")).toHaveLength(liesBefore + 1);
  world.clock.forward(400_000);
  // The second attempt begins with another oracle, and the third with the first one again.
  await signMappings(withAnswers(withChangedMapping(change), honest), new AbortController().signal);
  expect((await world.rowOf(authorization)).state).toBe("signed");
  await world.untilQuiet();
});

test("ignores the entry that an oracle reports, and counts only signatures of the correct entry", async () => {
  const authorization = await anAuthorization();
  const lyingOracle = withChangedMapping((m) => void (m["data"] = `0x${"99".repeat(52)}`));
  await signMappings(withAnswers(lyingOracle), new AbortController().signal);
  expect((await world.rowOf(authorization)).state).toBe("signed");
  await world.untilQuiet();
  expect((await world.onHub(authorization)).data).toBe(
    `0x${authorization.id.slice(2)}${authorization.depositor.slice(2)}`,
  );
});

test("retries early if an oracle is unavailable, and late if all oracles refuse", async () => {
  const authorization = await anAuthorization();
  await signMappings(withAnswers(unavailable, refusing), new AbortController().signal);
  expect(await world.rowOf(authorization)).toMatchObject({
    state: "stored",
    reason: "no connection",
    tries: 1,
  });
  expect(world.events.of("mapping_rejected")).toHaveLength(0);
  world.clock.forward(60_000);
  await signMappings(withAnswers(refusing, refusing), new AbortController().signal);
  expect(await world.rowOf(authorization)).toMatchObject({ state: "stored", tries: 2 });
  expect(world.events.of("mapping_rejected")).toHaveLength(1);
  world.clock.forward(400_000);
  await signMappings(withAnswers(honest), new AbortController().signal);
  expect((await world.rowOf(authorization)).state).toBe("stored");
  world.clock.forward(21_600_000);
  await signMappings(withAnswers(honest), new AbortController().signal);
  expect((await world.rowOf(authorization)).state).toBe("signed");
  await world.untilQuiet();
});

test("an unreachable hub delays a mapping and loses none", async () => {
  const authorization = await anAuthorization();
  const down = {
    ...world.services,
    mappings: {
      ...world.services.mappings,
      entry: async (): Promise<never> => {
        throw new Error("the hub's node is unreachable");
      },
    },
  };
  await signMappings(down, new AbortController().signal);
  expect(await world.rowOf(authorization)).toMatchObject({ state: "stored", tries: 1 });
  expect(world.events.of("mapping_fault").length).toBeGreaterThan(0);
  world.clock.forward(400_000);
  await world.untilQuiet();
  expect((await world.rowOf(authorization)).state).toBe("published");
});

function aSignature(signature: Hex): object {
  return { mappingChainId: "1", mappingContract: world.mapping, oracleSigner: world.mapping, signature };
}
function twice(signatures: unknown): unknown {
  const [first] = signatures as readonly unknown[];
  return [first, first];
}
