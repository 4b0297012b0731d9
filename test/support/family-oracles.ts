import { routeServices } from "../../apps/oracle/src/route-services.ts";
import type { AttestedChain } from "../../apps/oracle/src/ports/attested-chains.ts";
import { buildServer } from "../../apps/oracle/src/server.ts";
import { limitConcurrentCalls } from "../../apps/oracle/src/usecases/limit-concurrent-calls.ts";
import { createAttestationSigner } from "../../apps/oracle/src/usecases/sign-attestations.ts";
import { createShadowLedger } from "../../apps/oracle/src/usecases/shadow-ledger.ts";
import { connectPeer, executionDigester, type Signer } from "@causeway/attest";
import { evidenceSources, type EvidenceSource, type NonceMappings } from "@causeway/chains";
import type { Address, Hex, Hex32 } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import type { OracleStatus } from "@causeway/wire";
import { createLogger, createMetrics } from "@causeway/service-kit";
import type { FamilyWorld, MappingBook } from "../contracts/family-world.ts";
import { aChain, aHub, FakeChain, oracleSigner, type Answer, type AnswerBody } from "./oracle-world.ts";
import { startFaultyFronts, type ChooseFault } from "./faulty-front.ts";

/** Unix seconds. Long after every transaction of these tests. */
const FAR_FUTURE = 2n ** 40n;

/** The nonce mappings on the hub, which a test sets. */
export function createMappingBook(): MappingBook & NonceMappings {
  const entries = new Map<string, NonNullable<Parameters<MappingBook["set"]>[3]>>();
  const keyOf = (chain: string, wallet: Hex, nonce: bigint): string =>
    `${chain}:${wallet.toLowerCase()}:${nonce}`;
  let asOf = FAR_FUTURE;
  return {
    set(chainName, wallet, nonce, entry) {
      const key = keyOf(chainName, wallet, nonce);
      if (entry === undefined) entries.delete(key);
      else entries.set(key, entry);
    },
    setAsOf: (seconds) => void (asOf = seconds),
    of: async (chainName, wallet, nonce) => ({ entry: entries.get(keyOf(chainName, wallet, nonce)), asOf }),
  };
}

/** An oracle on its own socket. It reads the family's chain through the real adapter. */
export interface FamilyOracle {
  readonly url: string;
  readonly signer: Signer;
  /** The number of signatures that the oracle has made. */
  signatures(): number;
  /** Makes the oracle read the family's chain from other nodes. */
  readAt(urls: readonly string[]): Promise<void>;
  post(route: string, body: unknown): Promise<Answer>;
  status(): Promise<OracleStatus>;
  close(): Promise<void>;
}

export interface FamilyOracles {
  readonly world: FamilyWorld;
  readonly chain: ConfiguredChain;
  /** Another chain, whose contents the tests define. */
  readonly home: FakeChain;
  /** Balances on the hub, by `account:token`. */
  readonly balances: Map<string, bigint>;
  /** Payloads that the allocator recorded, by withdrawal address. */
  readonly recordedWithdrawals: Map<Address, Hex32>;
  readonly first: FamilyOracle;
  readonly second: FamilyOracle;
  /** Asks the first oracle, which has one peer. That peer lies about amounts. */
  askWithLyingPeer(route: string, body: object): Promise<Answer>;
  /**
   * Asks an oracle whose nodes have these faults. `nodeAnswers` has the nodes' answers by the number of the
   * exchange.
   */
  askWithFaults(
    fault: ChooseFault,
    route: string,
    body: unknown,
  ): Promise<{ readonly answer: Answer; readonly nodeAnswers: readonly unknown[] }>;
  close(): Promise<void>;
}

export async function startFamilyOracles(
  world: FamilyWorld,
  mappings: NonceMappings,
): Promise<FamilyOracles> {
  const chain = world.chainAt(world.urls);
  const home = new FakeChain(aChain("home", 1));
  const balances = new Map<string, bigint>();
  const recordedWithdrawals = new Map<Address, Hex32>();
  const fronts = await startFaultyFronts(world.urls);
  const shared = { world, chain, home, balances, recordedWithdrawals, mappings };
  const second = await startOracle(shared, oracleSigner(1), world.urls);
  const liar = await startOracle({ ...shared, isLying: true }, oracleSigner(2), world.urls);
  const [first, fronted] = await Promise.all([
    startOracle(shared, oracleSigner(0), world.urls, [liar.url]),
    startOracle(shared, oracleSigner(3), fronts.urls),
  ]);
  return {
    ...shared,
    first,
    second,
    askWithLyingPeer: async (route, body) =>
      await first.post(route, { ...body, requestPeerSignatures: true }),
    async askWithFaults(fault, route, body) {
      // Opens the chain again, so that no state from an earlier request affects this one.
      await fronted.readAt(fronts.urls);
      fronts.begin(fault);
      return { answer: await fronted.post(route, body), nodeAnswers: fronts.answers };
    },
    close: async () => {
      await Promise.all([first, second, liar, fronted].map(async (oracle) => await oracle.close()));
      await fronts.close();
    },
  };
}

interface SharedState extends Pick<
  FamilyOracles,
  "world" | "chain" | "home" | "balances" | "recordedWithdrawals"
> {
  readonly mappings: NonceMappings;
  /** Whether the oracle reports every deposit as one unit larger. */
  readonly isLying?: boolean;
}

async function startOracle(
  { world, chain, home, balances, recordedWithdrawals, mappings, isLying = false }: SharedState,
  signer: Signer,
  urls: readonly string[],
  peerUrls: readonly string[] = [],
): Promise<FamilyOracle> {
  const open = async (nodeUrls: readonly string[]): Promise<EvidenceSource> => {
    const sources = await evidenceSources([world.chainAt(nodeUrls)], { nonceMappings: mappings });
    const source = sources.get(chain.name);
    if (source === undefined) throw new Error(`no evidence of ${chain.name}`);
    return source;
  };
  let source = await open(urls);
  const evidence: EvidenceSource = {
    chain,
    async deposits(transactionId) {
      const transaction = await source.deposits(transactionId);
      if (!isLying || transaction.kind !== "final") return transaction;
      const deposits = transaction.value.deposits.map((deposit) => ({
        ...deposit,
        amount: deposit.amount + 1n,
      }));
      return { ...transaction, value: { ...transaction.value, deposits } };
    },
    payments: async (...question) => await source.payments(...question),
    withdrawal: async (...question) => await source.withdrawal(...question),
    newestFinal: source.newestFinal && (async () => await source.newestFinal?.()),
    close: async () => await source.close(),
  };
  const chains = new Map<string, AttestedChain>([
    [chain.name, { chain, evidence }],
    [home.chain.name, { chain: home.chain, evidence: home }],
  ]);
  let signatures = 0;
  let reports = 0;
  const peers = peerUrls.map((baseUrl) => connectPeer({ baseUrl, credential: undefined }));
  const services = routeServices(
    {
      chains,
      hub: aHub,
      hubReader: {
        balanceOf: async (holder, tokenId) => balances.get(`${holder}:${tokenId}`) ?? 0n,
        recordedWithdrawal: async (address) => recordedWithdrawals.get(address),
        newestFinal: async () => ({ height: 1n, timestamp: 0n }),
        multisig: async () => ({ isSigner: true, threshold: 1 }),
      },
      attestationSigner: createAttestationSigner(signer, aHub, () => void signatures++),
      executionDigest: executionDigester(aHub),
    },
    {
      peers,
      policy: {
        signers: new Set([0, 1, 2, 3].map((n) => oracleSigner(n).address)),
        threshold: 2,
        localSigner: signer.address,
      },
      admitCall: limitConcurrentCalls({ perCaller: 64, total: 512 }),
      localDeadlineMs: 10_000,
      peerTimeoutMs: 10_000,
      events: {
        attested: () => undefined,
        peerWarning: () => undefined,
        peerCallEnded: () => undefined,
        signed: () => undefined,
      },
      ledger: createShadowLedger(false, 0),
    },
    // Each report is a new one, because the time advances beyond the report's lifetime.
    { shadow: false, nowMs: () => Date.now() + 60_000 * ++reports },
  );
  const app = await buildServer(
    { ...services, log: createLogger({ name: "test", level: "silent" }), metrics: createMetrics("test") },
    {
      apiKeys: undefined,
      metricsOpen: false,
      shadow: false,
      handlerTimeoutMs: 20_000,
      checkResponses: true,
      interactiveDocumentation: false,
    },
  );
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    url,
    signer,
    signatures: () => signatures,
    async readAt(nodeUrls) {
      const previous = source;
      source = await open(nodeUrls);
      await previous.close();
    },
    async status() {
      const answer = await fetch(`${url}/status/v1`);
      return (await answer.json()) as OracleStatus;
    },
    async post(route, body) {
      const response = await fetch(`${url}/attestations/${route}/v1`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      const parsed = (text.startsWith("{") ? JSON.parse(text) : {}) as AnswerBody;
      return { status: response.status, headers: response.headers, text, body: parsed };
    },
    close: async () => {
      await Promise.all(peers.map(async (peer) => await peer.close()));
      await app.close();
      await source.close();
    },
  };
}
