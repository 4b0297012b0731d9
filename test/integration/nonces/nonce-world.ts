import {
  nonceMappingDigest,
  nonceMappingEntry,
  rawKeySigner,
  signatureToHex,
  type Signer,
} from "@causeway/attest";
import { genericMappingAbi } from "@causeway/contracts";
import {
  HYPERLIQUID_WALLET_CHAIN,
  type Address,
  type AttestationHub,
  type Hex,
  type NonEvmChain,
  type RequestTerms,
} from "@causeway/domain";
import { createLocalClient, startAnvil, type LocalClient } from "@causeway/testkit";
import { deployHub, localHub } from "@causeway/localnet";
import type pg from "pg";
import { connectHub } from "../../../apps/api/src/settlement/evm-hub.adapter.ts";
import { connectHubMappings } from "../../../apps/api/src/settlement/nonce-mappings/evm-hub-mappings.adapter.ts";
import { createHttpOracle } from "../../../apps/api/src/settlement/http-oracle.adapter.ts";
import { nonceMappingStore } from "../../../apps/api/src/settlement/nonce-mappings/nonce-mapping-rows.postgres.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { groupedQuoteInserts } from "../../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { settlementReads } from "../../../apps/api/src/settlement/settlement-reads.postgres.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import type { MappingServices } from "../../../apps/api/src/settlement/nonce-mappings/mapping-services.port.ts";
import type {
  NonceAuthorization,
  NonceMappingReads,
} from "../../../apps/api/src/chains/nonce-mappings.port.ts";
import type { SettlementServices } from "../../../apps/api/src/settlement/settlement-services.port.ts";
import { authorizeNonce } from "../../../apps/api/src/settlement/nonce-mappings/authorize-nonce.ts";
import { submitMappings } from "../../../apps/api/src/settlement/nonce-mappings/submit-mappings.ts";
import { knownNonces } from "../../../apps/api/src/settlement/nonce-mappings/known-nonces.ts";
import { signMappings } from "../../../apps/api/src/settlement/nonce-mappings/sign-mappings.ts";
import { submitExecutions } from "../../../apps/api/src/settlement/submit-executions.ts";
import { adjustableClock, type AdjustableClock } from "../../fakes/adjustable-clock.ts";
import { recordedEvents, type RecordedEvents } from "../../fakes/recorded-events.ts";
import { createTestDatabase } from "../../support/database.ts";
import { someHash, someTerms } from "../../support/terms.ts";
import {
  aHyperliquidChain,
  startOracleWorld as startOracle,
  type OracleWorld,
} from "../../support/oracle-world.ts";
import { settlementPolicy } from "../settlement/settlement-world.ts";

export const HYPERLIQUID_ID = 1337;
const NAME = "exchange";

/** The service's description of Hyperliquid. No test of this world calls Hyperliquid. */
const hyperliquid = {
  id: HYPERLIQUID_ID,
  name: NAME,
  vmType: "hypevm",
  needsNonceMappings: true,
} as NonEvmChain;

/**
 * `POST /authorize`, the worker's rounds, and the engine's reads of mappings, on a real database, a real hub
 * and three oracles over HTTP. The test advances the world step by step.
 */
export interface NonceWorld {
  readonly clock: AdjustableClock;
  readonly events: RecordedEvents;
  readonly pool: pg.Pool;
  readonly services: MappingServices;
  readonly settlementServices: SettlementServices;
  readonly hubClient: LocalClient;
  readonly mapping: Address;
  readonly oracles: readonly OracleWorld[];
  readonly reads: NonceMappingReads;
  /** Balances of accounts on Hyperliquid. An account that is not listed has a million. */
  readonly funds: Map<Hex, bigint>;
  /** Stores a quote for a transfer by this wallet with the quote's own nonce. */
  quote(wallet: Address, change?: Partial<RequestTerms>): Promise<RequestTerms>;
  authorize(authorization: NonceAuthorization): Promise<unknown>;
  /** The body that a wallet posts to authorize the nonce of a quote. */
  authorization(
    wallet: Signer,
    terms: RequestTerms,
    change?: Partial<NonceAuthorization>,
    signedAs?: Partial<NonceAuthorization>,
  ): Promise<NonceAuthorization>;
  /** Runs each of the worker's rounds once. */
  round(services?: MappingServices): Promise<void>;
  mineHub(blocks?: number): Promise<void>;
  /** Runs rounds and mines blocks until no authorization waits, at most 20 times. */
  untilQuiet(): Promise<void>;
  /** The contract's current entry for an authorization. */
  onHub(authorization: NonceAuthorization): Promise<{ readonly data: Hex; readonly setAt: bigint }>;
  /** Sets another mapping of the wallet on the hub, without this service. */
  publishElsewhere(authorization: NonceAuthorization): Promise<void>;
  rowOf(authorization: NonceAuthorization): Promise<{ state: string; reason: string | null; tries: number }>;
  stop(): Promise<void>;
}

const key = (byte: string): Hex => `0x${byte.repeat(32)}`;
let lastNonce = 1_763_000_000_000;

export async function startNonceWorld(): Promise<NonceWorld> {
  const database = await createTestDatabase();
  const pool = createPool(database.url, { max: 10, statementTimeoutMs: 10_000, applicationName: "test" });
  const sql = sqlOn(pool);
  const [clock, events] = [adjustableClock(), recordedEvents()];
  const signers = [rawKeySigner(key("a1")), rawKeySigner(key("b2")), rawKeySigner(key("c3"))];
  const solver = rawKeySigner(key("d4"));
  const node = await startAnvil({ chainId: localHub.chainId, extraArgs: ["--no-mining"] });
  const contracts = await deployHub(node, { signers: signers.map(({ address }) => address), threshold: 2 });
  const hubClient = createLocalClient(node);
  await hubClient.setBalance({ address: solver.address, value: 10n ** 20n });
  // The hub's state can be read once the deployment is final.
  await hubClient.mine({ blocks: 3 });
  const mapping = contracts.genericMapping.toLowerCase() as Address;
  const lower = (address: Address): Address => address.toLowerCase() as Address;
  const hub: AttestationHub = {
    name: localHub.name,
    rpcUrl: node.url,
    chainId: localHub.chainId,
    hubAddress: lower(contracts.hub),
    oracleAddress: lower(contracts.oracle),
    oracleMultisigAddress: lower(contracts.oracleMultisig),
    allocatorAddress: undefined,
    genericMappingAddress: mapping,
    domain: { name: "Oracle", version: "1" },
    settlementKey: "payment",
    fillLeadSeconds: 60,
    finality: { kind: "depth", blocks: 2n, seconds: 0n },
  };
  const otherChains = [aHyperliquidChain(NAME, HYPERLIQUID_ID)];
  const oracleOptions = {
    signers: new Set(signers.map(({ address }) => address)),
    threshold: 2,
    hub,
    otherChains,
  };
  const started: OracleWorld[] = [];
  for (const signer of signers)
    started.push(await startOracle({ ...oracleOptions, signer, peers: started.map(({ url }) => url) }));
  const oracles = started.toReversed();

  const uow = postgresUnitOfWork(pool, events);
  const mappingStore = nonceMappingStore(sql);
  const hubChain = connectHub(hub, clock, lower(contracts.oracleMultisig));
  const mappings = connectHubMappings(hub, mapping);
  const chainName = (id: number) => (id === HYPERLIQUID_ID ? NAME : undefined);
  const settling: SettlementServices = {
    clock,
    events,
    signer: solver,
    formerSigners: [],
    uow,
    reads: postgresReads(sql),
    chains: { evmChains: [], nonEvmChains: [], profile: () => undefined },
    hub: hubChain,
    // The other two oracles are peers of the last one. If it is asked first, it returns a quorum alone.
    oracles: oracles
      .slice(0, 2)
      .map(({ url }) => createHttpOracle({ url, apiKey: "key" }, { timeoutMs: 2_000 })),
    settlement: settlementReads(sql),
    settlementPolicy,
  };
  const services: MappingServices = { ...settling, mappings, nonceMappingStore: mappingStore, chainName };
  const insertQuoted = groupedQuoteInserts(sql);
  const funds = new Map<Hex, bigint>();
  const users = { balance: async (user: Hex) => funds.get(user) ?? 1_000_000n };
  const chains = {
    nonEvm: (id: number) => (id === HYPERLIQUID_ID ? { chain: hyperliquid, users } : undefined),
  } as Parameters<typeof authorizeNonce>[0]["chains"];

  const mineHub = async (blocks = 1): Promise<void> => await hubClient.mine({ blocks });
  const entry = (authorization: NonceAuthorization) => nonceMappingEntry(NAME, authorization);
  const world: NonceWorld = {
    clock,
    events,
    pool,
    services,
    settlementServices: settling,
    hubClient,
    mapping,
    oracles,
    funds,
    reads: knownNonces({ clock, stored: mappingStore, hub: mappings, chainName }),
    async quote(wallet, change = {}) {
      lastNonce += 1;
      const terms = someTerms({
        user: wallet,
        orderId: someHash(),
        walletNonce: lastNonce,
        origin: { chainId: HYPERLIQUID_ID, currency: `0x${"00".repeat(16)}`, amount: 100n },
        ...change,
      });
      await insertQuoted(terms);
      return terms;
    },
    authorize: async (authorization) =>
      await authorizeNonce({ chains, clock, events, uow, reads: postgresReads(sql) }, authorization),
    async authorization(wallet, terms, change = {}, signedAs = {}) {
      const authorization = {
        walletChainId: HYPERLIQUID_ID,
        wallet: wallet.address,
        depositor: wallet.address,
        nonce: BigInt(terms.walletNonce ?? 0),
        id: terms.orderId,
        signatureChainId: 42161,
        ...change,
      };
      const digest = nonceMappingDigest({
        ...authorization,
        ...signedAs,
        walletChain: HYPERLIQUID_WALLET_CHAIN,
      });
      return { signature: signatureToHex(await wallet.signDigest(digest)), ...authorization };
    },
    async round(mappingServices = services) {
      await signMappings(mappingServices, new AbortController().signal);
      await submitMappings(mappingServices);
      await submitExecutions({ ...settling, ...mappingServices });
    },
    mineHub,
    async untilQuiet() {
      for (let round = 0; round < 20; round++) {
        await world.round();
        await mineHub(1);
        if ((await mappingStore.waiting()).length === 0) return;
        clock.forward(10_000);
      }
      throw new Error(`still waiting: ${JSON.stringify(await mappingStore.waiting())}`);
    },
    async onHub(authorization) {
      const { user, id } = entry(authorization);
      const [data, setAt] = await hubClient.readContract({
        address: mapping,
        abi: genericMappingAbi,
        functionName: "getEntry",
        args: [user, id],
      });
      return { data, setAt };
    },
    async publishElsewhere(authorization) {
      const { walletChainId: _, nonce, ...fields } = authorization;
      const oracle = oracles[0];
      if (oracle === undefined) throw new Error("no oracle is configured");
      const body = { walletChainId: NAME, ...fields, nonce: nonce.toString(), requestPeerSignatures: true };
      const answer = await oracle.post("signatures/nonce-mapping", body, {}, "v2");
      if (answer.status !== 200) throw new Error(answer.text);
      const signature: Hex = `0x${answer.body.genericMapping.signatures
        .slice(0, 2)
        .map((signed) => signed.signature.slice(2))
        .join("")}`;
      const { data } = mappings.publish([{ ...entry(authorization), signature }], 2);
      await hubClient.setBalance({ address: authorization.wallet, value: 10n ** 18n });
      await hubClient.impersonateAccount({ address: authorization.wallet });
      await hubClient.sendUnsignedTransaction({
        from: authorization.wallet,
        to: mapping,
        data,
        gas: 1_000_000n,
      });
      await mineHub(4);
    },
    async rowOf({ walletChainId, wallet, nonce }) {
      const { rows } = await pool.query<{ state: string; reason: string | null; tries: number }>(
        "select state, reason, tries from nonce_mappings where chain_id = $1 and wallet = $2 and nonce = $3",
        [walletChainId, wallet, nonce.toString()],
      );
      return rows[0] ?? { state: "none", reason: null, tries: 0 };
    },
    async stop() {
      await Promise.all([
        ...oracles.map(async (oracle) => await oracle.close()),
        hubChain.close(),
        mappings.close(),
      ]);
      await pool.end();
      await Promise.all([node.stop(), database.drop()]);
    },
  };
  return world;
}
