import { hubAlias, hubTokenId, rawKeySigner } from "@causeway/attest";
import type { AttestationHub, Chain, Hex, RequestId } from "@causeway/domain";
import { decodeAddress, formatTransactionId, parseTransaction } from "@causeway/families";
import { createLocalClient, startAnvil } from "@causeway/testkit";
import { deployHub, localHub } from "@causeway/localnet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectHub } from "../../../apps/api/src/settlement/evm-hub.adapter.ts";
import { createHttpOracle } from "../../../apps/api/src/settlement/http-oracle.adapter.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { settlementReads } from "../../../apps/api/src/settlement/settlement-reads.postgres.ts";
import type { HubChain } from "../../../apps/api/src/settlement/hub.port.ts";
import type { SettlementServices } from "../../../apps/api/src/settlement/settlement-services.port.ts";
import { attestDue } from "../../../apps/api/src/settlement/attest-due.ts";
import { submitExecutions } from "../../../apps/api/src/settlement/submit-executions.ts";
import {
  SOLVER_CHAIN,
  startNonEvmWorld,
  type NonEvmTestChain,
  type NonEvmWorld,
} from "../../support/non-evm-world.ts";
import { startFakeOracle, type AttestedChain, type FakeOracle } from "./fake-oracle.ts";
import { settlementPolicy } from "./settlement-world.ts";

let world: NonEvmWorld;
let services: SettlementServices;
let hub: HubChain;
let oracle: FakeOracle;
let mineHub: () => Promise<void>;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  world = await startNonEvmWorld({ destination: "outputs" });
  const signers = ["a1", "b2"].map((byte) => rawKeySigner(`0x${byte.repeat(32)}`));
  const node = await startAnvil({ chainId: localHub.chainId, extraArgs: ["--no-mining"] });
  const contracts = await deployHub(node, { signers: signers.map(({ address }) => address), threshold: 2 });
  const client = createLocalClient(node);
  const solver = world.services.signer.address;
  await client.setBalance({ address: solver, value: 10n ** 20n });
  const lower = (address: Hex) => address.toLowerCase() as Hex;
  const description: AttestationHub = {
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
  hub = connectHub(description, world.clock, lower(contracts.oracleMultisig));
  oracle = await startFakeOracle([world.origin, world.destination].map(attestedChain), description, signers);
  const home = { name: SOLVER_CHAIN, vmType: "evm" } as Chain;
  services = {
    ...world.services,
    chains: { ...world.services.chains, evmChains: [{ chain: home }] },
    hub,
    oracles: [createHttpOracle({ url: oracle.url, apiKey: "key" }, { timeoutMs: 2_000 })],
    settlement: settlementReads(sqlOn(world.pool)),
    settlementPolicy,
  };
  mineHub = async () => await client.mine({ blocks: 1 });
  closers.push(
    () => hub.close(),
    () => oracle.close(),
    () => node.stop(),
    () => world.stop(),
  );
});
afterAll(async () => {
  for (const close of closers) await close();
});

/** The view of a non-EVM chain, in the formats of its family. */
function attestedChain({ chain, connection }: NonEvmTestChain): AttestedChain {
  const { family } = chain;
  return {
    name: chain.name,
    family,
    async depositsOf(transactionId) {
      const found = await connection.arrivalsOf(parseTransaction(chain, transactionId) ?? "0x");
      if (found.kind !== "final") throw new Error("not final");
      return found.deposits.map(({ id, depositor, depository, currency, amount }) => ({
        place: "0",
        depository: decodeAddress(family, depository ?? chain.depository),
        depositId: id ?? (`0x${"00".repeat(32)}` as const),
        depositor: decodeAddress(family, depositor),
        currency: decodeAddress(family, currency),
        amount,
        timestamp: 1_700_000_000n,
      }));
    },
  };
}

async function untilSettled(requestId: RequestId): Promise<void> {
  for (let round = 0; round < 25; round++) {
    await attestDue(services, new AbortController().signal);
    await submitExecutions(services);
    await mineHub();
    const { rows } = await world.pool.query<{ state: string; reason: string }>(
      "select state, reason from settlements where request_id = $1",
      [requestId],
    );
    if (rows[0]?.state === "settled") return;
    if (round === 24) throw new Error(`still ${JSON.stringify(rows)}`);
    world.clock.forward(20_000);
  }
}

async function solverHubBalance(): Promise<bigint> {
  const { chain, network } = world.origin;
  return await hub.balance(
    hubAlias({ name: SOLVER_CHAIN, vmType: "ethereum-vm" }, world.services.signer.address),
    hubTokenId({ name: chain.name, vmType: chain.family }, decodeAddress(chain.family, network.native)),
    "latest",
  );
}

test("queries oracles about a fill between two families in their formats, and settles the deposit to the solver on the hub", async () => {
  const agreed = await world.storeRequest();
  const deposit = world.pay(agreed);
  await world.untilFinal(agreed.requestId);
  await untilSettled(agreed.requestId);
  expect(await solverHubBalance()).toBe(100_000n);
  const [payment = "0x"] = world.paymentsOf(agreed, world.destination);
  const [aboutDeposit, aboutFill] = oracle.requests;
  expect(aboutDeposit?.body).toMatchObject({
    chainId: "alpha",
    transactionId: formatTransactionId(world.origin.chain, deposit),
  });
  expect(aboutFill?.body).toMatchObject({
    fill: { transactionId: formatTransactionId(world.destination.chain, payment) },
    order: {
      inputs: [{ payment: { currency: "1".repeat(32) } }],
      output: { payments: [{ recipient: expect.stringMatching(/^bc1q/) }] },
    },
  });
});

test("claims and settles a deposit to a former depository", async () => {
  const before = await solverHubBalance();
  const agreed = await world.storeRequest();
  const deposit = world.pay(agreed, { depository: `0x${"0f".repeat(32)}` });
  await world.untilFinal(agreed.requestId);
  const lies = world.events.of("oracle_lied").length;
  await untilSettled(agreed.requestId);
  expect(await solverHubBalance()).toBe(before + 100_000n);
  expect(world.events.of("oracle_lied")).toHaveLength(lies);
  const [stored] = await world.depositsAt(deposit);
  expect(stored?.depository).toBe(`0x${"0f".repeat(32)}`);
});

test("settles refunds, but queries no oracle about refunds of deposits without an order", async () => {
  const before = await solverHubBalance();
  const requestsBefore = oracle.requests.length;
  const unnamed = await world.storeRequest();
  const { user, origin } = unnamed.terms;
  world.origin.network.deposit({ from: user, currency: origin.currency, amount: 5_000n, nonce: 7n });
  await world.round();
  world.clock.forward(3_700_000);
  for (let more = 0; more < 10; more++) await world.round();
  expect(world.origin.network.received(user, origin.currency)).toBe(4_990n);
  await attestDue(services, new AbortController().signal);
  expect(oracle.requests).toHaveLength(requestsBefore);

  const agreed = await world.storeRequest({ forceRefund: true });
  world.pay(agreed);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("refund");
  await untilSettled(agreed.requestId);
  expect(await solverHubBalance()).toBe(before + 100_000n);
});
