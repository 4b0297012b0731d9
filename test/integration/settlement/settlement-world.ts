import { hubAlias, hubTokenId, rawKeySigner, type Signer } from "@causeway/attest";
import { RpcFault } from "@causeway/chains";
import type { AttestationHub, Hex, RequestId } from "@causeway/domain";
import { createLocalClient, startAnvil, type LocalClient } from "@causeway/testkit";
import { deployHub, localHub } from "@causeway/localnet";
import { connectHub } from "../../../apps/api/src/settlement/evm-hub.adapter.ts";
import { createHttpOracle } from "../../../apps/api/src/settlement/http-oracle.adapter.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { settlementReads } from "../../../apps/api/src/settlement/settlement-reads.postgres.ts";
import type { HubChain } from "../../../apps/api/src/settlement/hub.port.ts";
import type { SettlementServices } from "../../../apps/api/src/settlement/settlement-services.port.ts";
import { attestDue } from "../../../apps/api/src/settlement/attest-due.ts";
import { submitExecutions } from "../../../apps/api/src/settlement/submit-executions.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";
import { attestedChain, startFakeOracle, type FakeOracle } from "./fake-oracle.ts";

export const settlementPolicy = {
  intervalMs: 1_000,
  retryMs: 1_000,
  maxRetryMs: 300_000,
  rejectedRetryMs: 21_600_000,
  concurrency: 4,
  batchSize: 20,
  stuckAfterMs: 60_000,
  rebroadcastIntervalMs: 5_000,
  maxAttempts: 4,
};

/**
 * The engine's world with a hub that has the real contracts, and with oracles on real sockets. Tests advance
 * settlement step by step.
 */
export interface SettlementWorld {
  readonly engine: EngineWorld;
  readonly services: SettlementServices;
  readonly hubClient: LocalClient;
  readonly hub: AttestationHub;
  /** Three signers. The multisig requires two of them. */
  readonly signers: readonly Signer[];
  readonly oracle: FakeOracle;
  /** A request whose fill is final. */
  filled(): Promise<QuotedRequest>;
  refunded(): Promise<QuotedRequest>;
  attest(by?: SettlementServices): Promise<void>;
  submit(by?: SettlementServices): Promise<void>;
  mineHub(blocks?: number): Promise<void>;
  /** Services whose broadcasts to the hub fail. */
  unreachable(): SettlementServices;
  /** Runs every step until nothing is left to do, and moves the clock forward. */
  untilSettled(requestId: RequestId): Promise<void>;
  stateOf(requestId: RequestId): Promise<{ state: string; reason: string | null; rejected: boolean }>;
  executions(): Promise<{ kind: string; state: string; reason: string | null }[]>;
  /** The solver's balance on the hub in the usual origin currency. */
  solverOnHub(): Promise<bigint>;
  startOracle(signers: readonly Signer[]): Promise<FakeOracle>;
  askingOnly(...oracles: readonly FakeOracle[]): SettlementServices;
  stop(): Promise<void>;
}

const key = (byte: string): Hex => `0x${byte.repeat(32)}`;

export async function startSettlementWorld(): Promise<SettlementWorld> {
  const engine = await startEngineWorld({ chain: { finalityBlocks: 2 } });
  const signers = [rawKeySigner(key("a1")), rawKeySigner(key("b2")), rawKeySigner(key("c3"))];
  const node = await startAnvil({ chainId: localHub.chainId, extraArgs: ["--no-mining"] });
  const contracts = await deployHub(node, { signers: signers.map(({ address }) => address), threshold: 2 });
  const hubClient = createLocalClient(node);
  await hubClient.setBalance({ address: engine.solver.address, value: 10n ** 20n });
  const hub: AttestationHub = {
    name: localHub.name,
    rpcUrl: node.url,
    chainId: localHub.chainId,
    hubAddress: lower(contracts.hub),
    oracleAddress: lower(contracts.oracle),
    oracleMultisigAddress: lower(contracts.oracleMultisig),
    allocatorAddress: lower(contracts.allocator),
    domain: { name: "Oracle", version: "1" },
    settlementKey: "payment",
    fillLeadSeconds: 60,
    finality: { kind: "depth", blocks: 2n, seconds: 0n },
  };
  const opened: FakeOracle[] = [];
  const startOracle = async (by: readonly Signer[]): Promise<FakeOracle> => {
    const started = await startFakeOracle([engine.origin, engine.destination].map(attestedChain), hub, by);
    opened.push(started);
    return started;
  };
  const oracle = await startOracle(signers.slice(0, 2));
  const chain: HubChain = connectHub(hub, engine.clock, lower(contracts.oracleMultisig));
  const asking = (...oracles: readonly FakeOracle[]): SettlementServices => ({
    ...engine.services,
    hub: chain,
    oracles: oracles.map(({ url }) => createHttpOracle({ url, apiKey: "key" }, { timeoutMs: 2_000 })),
    settlement: settlementReads(sqlOn(engine.pool)),
    settlementPolicy,
  });
  const services = asking(oracle);
  const mineHub = async (blocks = 1): Promise<void> => await hubClient.mine({ blocks });
  const stateOf: SettlementWorld["stateOf"] = async (requestId) => {
    const { rows } = await engine.pool.query<{ state: string; reason: string | null; rejected: boolean }>(
      "select state, reason, rejected from settlements where request_id = $1 order by slot_id",
      [requestId],
    );
    return rows[0] ?? { state: "none", reason: null, rejected: false };
  };
  const world: SettlementWorld = {
    engine,
    services,
    hubClient,
    hub,
    signers,
    oracle,
    startOracle,
    askingOnly: asking,
    mineHub,
    stateOf,
    unreachable() {
      const broadcast = async () => {
        throw new RpcFault({
          kind: "network",
          method: "eth_sendRawTransaction",
          reason: "connection refused",
        });
      };
      const connection = { ...chain.lane.connection, writer: { broadcast } };
      return { ...services, hub: { ...chain, lane: { ...chain.lane, connection } } };
    },
    async filled() {
      const agreed = await engine.quote({ recipient: engine.anAddress() });
      await engine.pay(agreed);
      await engine.untilFinal(agreed.requestId);
      return agreed;
    },
    async refunded() {
      const agreed = await engine.quote({
        refundTo: engine.anAddress(),
        referrer: "debug-force-refund",
      });
      await engine.pay(agreed);
      await engine.untilFinal(agreed.requestId);
      return agreed;
    },
    async attest(by = services) {
      await attestDue(by, new AbortController().signal);
    },
    async submit(by = services) {
      await submitExecutions(by);
    },
    async untilSettled(requestId) {
      for (let round = 0; round < 25; round++) {
        await world.attest();
        await world.submit();
        await mineHub(1);
        if ((await stateOf(requestId)).state === "settled") return;
        engine.clock.forward(20_000);
      }
      throw new Error(`still ${JSON.stringify(await stateOf(requestId))}`);
    },
    async executions() {
      const { rows } = await engine.pool.query<{ kind: string; state: string; reason: string | null }>(
        "select kind, state, reason from hub_executions order by id",
      );
      return rows;
    },
    async solverOnHub() {
      const at = (name: string) => ({ name, vmType: "ethereum-vm" }) as const;
      const home = engine.services.quotePolicy.solverChainName;
      return await chain.balance(
        hubAlias(at(home), engine.solver.address),
        hubTokenId(at(engine.origin.chain.name), engine.usdc),
        "latest",
      );
    },
    async stop() {
      await chain.close();
      await Promise.all(opened.map(async (resource) => await resource.close()));
      await Promise.all([node.stop(), engine.stop()]);
    },
  };
  return world;
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}
