import { createApiKeys } from "../../apps/oracle/src/adapters/api-keys.ts";
import type { AttestedChain } from "../../apps/oracle/src/ports/attested-chains.ts";
import type { OracleEvents } from "../../apps/oracle/src/ports/events.ts";
import { routeServices } from "../../apps/oracle/src/route-services.ts";
import { buildServer } from "../../apps/oracle/src/server.ts";
import { limitConcurrentCalls } from "../../apps/oracle/src/usecases/limit-concurrent-calls.ts";
import type { CallBounds } from "../../apps/oracle/src/usecases/limit-concurrent-calls.ts";
import { createAttestationSigner } from "../../apps/oracle/src/usecases/sign-attestations.ts";
import { createShadowLedger } from "../../apps/oracle/src/usecases/shadow-ledger.ts";
import {
  connectPeer,
  executionDigester,
  onchainId,
  rawKeySigner,
  signPersonalMessage,
} from "@causeway/attest";
import type { Peer, PeerWarning, Signer } from "@causeway/attest";
import type {
  DepositEvidence,
  Evidence,
  EvidenceSource,
  FinalHead,
  PaymentAnswer,
  PaymentQuestion,
  TransactionDeposits,
  WithdrawalAnswer,
} from "@causeway/chains";
import {
  MAINNET_USDC_TOKEN_ID,
  orderFromJson,
  orderIdOf,
  type Address,
  type AttestationHub,
  type Hex,
  type Hex32,
} from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { createLogger, createMetrics } from "@causeway/service-kit";
import type { AttestedOrder } from "@causeway/wire";
import { oracleSigner, privateKey } from "./oracle-keys.ts";

export const word = (byte: string): Hex32 => `0x${byte.repeat(32)}`;
export const account = (byte: string): Address => `0x${byte.repeat(20)}`;
export const NATIVE = account("00");
export const DEPOSITORY = account("dd");
export const USDC = account("c1");
export const USER = account("a1");
export const RECIPIENT = account("b2");

/** A chain whose contents the test defines. Everything else is absent. */
export class FakeChain implements EvidenceSource {
  readonly chain: ConfiguredChain;
  readonly depositsOf = new Map<string, Evidence<TransactionDeposits>>();
  readonly paymentsOf = new Map<string, (question: PaymentQuestion) => Evidence<PaymentAnswer>>();
  readonly withdrawals = new Map<string, Evidence<WithdrawalAnswer>>();
  head: FinalHead | undefined = { height: 42n, timestamp: 990n };
  /** The number of reads so far. */
  readCount = 0;
  /** If set, every read awaits it first, so that it can make reads fail or wait. */
  trouble: (() => Promise<void>) | undefined;

  constructor(chain: ConfiguredChain) {
    this.chain = chain;
  }

  async deposits(transactionId: string): Promise<Evidence<TransactionDeposits>> {
    await this.beforeRead();
    return this.depositsOf.get(transactionId) ?? { kind: "absent" };
  }

  async payments(transactionId: string, question: PaymentQuestion): Promise<Evidence<PaymentAnswer>> {
    await this.beforeRead();
    return this.paymentsOf.get(transactionId)?.(question) ?? { kind: "absent" };
  }

  async withdrawal(payload: Hex): Promise<Evidence<WithdrawalAnswer>> {
    await this.beforeRead();
    return this.withdrawals.get(payload) ?? { kind: "absent" };
  }

  async newestFinal(): Promise<FinalHead | undefined> {
    await this.beforeRead();
    return this.head;
  }

  async close(): Promise<void> {}

  private async beforeRead(): Promise<void> {
    this.readCount++;
    await this.trouble?.();
  }

  /** Adds a transaction with these `transfers`: recipient, currency and amount. */
  addPayment(
    transactionId: string,
    transfers: readonly (readonly [string, string, bigint])[],
    timestamp = 2_000n,
  ): void {
    this.paymentsOf.set(transactionId, ({ receipts, deadline }) =>
      timestamp > BigInt(deadline)
        ? { kind: "refuted", reason: "executed after deadline" }
        : {
            kind: "final",
            value: {
              timestamp,
              amounts: receipts.map(({ recipient, currency }) =>
                transfers
                  .filter(([to, token]) => to === recipient && token === currency)
                  .reduce((sum, [, , amount]) => sum + amount, 0n),
              ),
            },
          },
    );
  }

  addDeposits(
    transactionId: string,
    deposits: readonly Partial<DepositEvidence>[],
    timestamp = 1_000n,
  ): void {
    this.depositsOf.set(transactionId, {
      kind: "final",
      value: {
        depository: DEPOSITORY,
        timestamp,
        deposits: deposits.map((deposit, at) => ({
          index: String(at),
          depositor: USER,
          currency: USDC,
          amount: 1_000n,
          depositId: undefined,
          ...deposit,
        })),
      },
    });
  }
}

export function aChain(name: string, chainId: number): ConfiguredChain {
  return {
    name,
    vmType: "ethereum-vm",
    rpcUrls: ["http://127.0.0.1:9"],
    rpcQuorum: 1,
    depository: DEPOSITORY,
    additionalDepositories: [],
    hubChainId: String(chainId),
    evm: {
      chainId,
      finality: { kind: "tag" },
      blockTimeSeconds: 1,
      fillContracts: [],
      isZksyncStack: false,
    },
  };
}

/** A chain whose transfers carry no order id. */
export function aHyperliquidChain(name: string, chainId: number): ConfiguredChain {
  return {
    ...aChain(name, chainId),
    vmType: "hyperliquid-vm",
    evm: undefined,
    hyperliquid: {
      explorerUrls: [],
      profile: "default",
      network: "Mainnet",
      usdcTokenId: MAINNET_USDC_TOKEN_ID,
    },
  };
}

export const aHub: AttestationHub = {
  name: "hub",
  rpcUrl: "http://127.0.0.1:9",
  chainId: 72100339,
  hubAddress: account("e1"),
  oracleAddress: account("e2"),
  oracleMultisigAddress: account("e3"),
  allocatorAddress: account("e4"),
  domain: { name: "Oracle", version: "1" },
  settlementKey: "payment",
  fillLeadSeconds: 60,
  depositPartsSince: 0,
  finality: { kind: "tag" },
};

export { oracleSigner };
export const solver = rawKeySigner(privateKey(100));
export const owner = rawKeySigner(privateKey(101));

export interface OracleWorldOptions {
  readonly signer?: Signer;
  readonly hub?: Partial<AttestationHub>;
  readonly peers?: readonly string[];
  readonly signers?: ReadonlySet<Address>;
  readonly threshold?: number;
  readonly apiKeys?: ReadonlyMap<string, string>;
  readonly shadow?: boolean;
  readonly localDeadlineMs?: number;
  readonly callBounds?: Partial<CallBounds>;
  readonly metricsOpen?: boolean;
  /** The chain of another oracle, if both oracles read the same chain. */
  readonly origin?: FakeChain;
  readonly destination?: FakeChain;
  /** Chains with a name and a family, which the oracle cannot read. */
  readonly otherChains?: readonly ConfiguredChain[];
}

export interface SignedMessage {
  readonly data: object;
  readonly result: Readonly<Record<string, unknown>>;
  readonly signature?: { readonly oracle: string; readonly signature: Hex };
  readonly signatures: { oracle: string; signature: Hex }[];
}

export interface SignedExecution {
  readonly idempotencyKey: Hex32;
  readonly actions: Hex[];
  readonly metadata?: unknown;
  readonly signatures: { oracleSigner: string; signature: Hex; oracleContract: Hex; oracleChainId: string }[];
}

/**
 * The fields of all answers together. A test reads those that its answer must have, and fails if one is
 * missing.
 */
export interface AnswerBody {
  readonly code?: string;
  readonly field?: string;
  readonly error?: string;
  readonly retryAfter?: number;
  readonly shadow?: boolean;
  readonly messages: SignedMessage[];
  readonly message: SignedMessage;
  readonly execution: SignedExecution;
  readonly quorum: { readonly signers: number; readonly threshold: number; readonly local: string };
  readonly payloadParams: {
    readonly signatures: { readonly oracleSigner: string; readonly signature: Hex }[];
  };
  readonly genericMapping: {
    readonly user: Hex;
    readonly id: Hex32;
    readonly data: Hex;
    readonly nonce: Hex32;
    readonly signatures: {
      readonly mappingChainId: string;
      readonly mappingContract: Hex;
      readonly oracleSigner: string;
      readonly signature: Hex;
    }[];
  };
  readonly chains: unknown[];
  readonly local: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: AnswerBody;
}

export type OracleWorld = Awaited<ReturnType<typeof startOracleWorld>>;

/** An oracle on its own socket, over chains whose contents the test defines. */
export async function startOracleWorld(options: OracleWorldOptions = {}) {
  const origin = options.origin ?? new FakeChain(aChain("origin", 1));
  const destination = options.destination ?? new FakeChain(aChain("destination", 2));
  const chains = new Map<string, AttestedChain>(
    [origin, destination].map((evidence) => [evidence.chain.name, { chain: evidence.chain, evidence }]),
  );
  const solana: ConfiguredChain = {
    ...aChain("solana", 3),
    vmType: "solana-vm",
    evm: undefined,
    depository: "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2",
  };
  for (const chain of [solana, ...(options.otherChains ?? [])])
    chains.set(chain.name, { chain, evidence: undefined });
  const hub = { ...aHub, ...options.hub };
  const signer = options.signer ?? oracleSigner(0);
  const balances = new Map<string, bigint>();
  const recordedWithdrawals = new Map<Address, Hex32>();
  const hubReads = { count: 0, delayMs: 0 };
  const hubHead = { read: async (): Promise<FinalHead> => ({ height: 7n, timestamp: 1_000n }) };
  const clock = { nowMs: 1_004_900 };
  const warnings: PeerWarning[] = [];
  const signatures = { count: 0 };
  const outcomes: Parameters<OracleEvents["attested"]>[0][] = [];
  const events: OracleEvents = {
    attested: (facts) => void outcomes.push(facts),
    peerWarning: (_route, warning) => void warnings.push(warning),
    peerCallEnded: () => undefined,
    signed: () => void signatures.count++,
  };
  const peers: Peer[] = (options.peers ?? []).map((baseUrl) =>
    connectPeer({ baseUrl, credential: undefined }),
  );
  const services = routeServices(
    {
      chains,
      hub,
      hubReader: {
        async balanceOf(holder, tokenId) {
          hubReads.count++;
          await new Promise((resolve) => setTimeout(resolve, hubReads.delayMs));
          return balances.get(`${holder}:${tokenId}`) ?? 0n;
        },
        recordedWithdrawal: async (address) => recordedWithdrawals.get(address),
        newestFinal: async () => await hubHead.read(),
        multisig: async (address) => ({
          isSigner: address === oracleSigner(0).address || address === oracleSigner(1).address,
          threshold: 2,
        }),
      },
      attestationSigner: createAttestationSigner(signer, hub, events.signed),
      executionDigest: executionDigester(hub),
    },
    {
      peers,
      policy: { signers: options.signers, threshold: options.threshold ?? 1, localSigner: signer.address },
      localDeadlineMs: options.localDeadlineMs ?? 5_000,
      peerTimeoutMs: 2_000,
      events,
      admitCall: limitConcurrentCalls({ perCaller: 64, total: 512, ...options.callBounds }),
      ledger: createShadowLedger(options.shadow ?? false, 0),
    },
    { shadow: options.shadow ?? false, nowMs: () => clock.nowMs },
  );
  const app = await buildServer(
    { ...services, log: createLogger({ name: "test", level: "silent" }), metrics: createMetrics("test") },
    {
      apiKeys: options.apiKeys && createApiKeys(options.apiKeys),
      metricsOpen: options.metricsOpen ?? false,
      shadow: options.shadow ?? false,
      handlerTimeoutMs: 20_000,
      checkResponses: true,
      interactiveDocumentation: false,
    },
  );
  const url = await app.listen({ host: "127.0.0.1", port: 0 });

  async function send(path: string, init: RequestInit): Promise<Answer> {
    const response = await fetch(`${url}${path}`, init);
    const text = await response.text();
    const body = (text.startsWith("{") ? JSON.parse(text) : {}) as AnswerBody;
    return { status: response.status, headers: response.headers, text, body };
  }

  return {
    url,
    origin,
    destination,
    balances,
    recordedWithdrawals,
    hubReads,
    hubHead,
    clock,
    warnings,
    outcomes,
    signatures,
    hub,
    signer,
    get: async (path: string, headers: Record<string, string> = {}) => await send(path, { headers }),
    post: async (route: string, body: unknown, headers: Record<string, string> = {}, version = "v1") =>
      await send(`/attestations/${route}/${version}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    close: async () => {
      await Promise.all(peers.map(async (peer) => await peer.close()));
      await app.close();
    },
  };
}

type Writable<T> = T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T;
export type EditableOrder = Writable<AttestedOrder>;

/** An order with one input of 1,000 USDC on the origin and one payment of 990 on the destination. */
export function anOrder(edit: (order: EditableOrder) => void = () => undefined): AttestedOrder {
  const order: EditableOrder = {
    version: "v1",
    solverChainId: "origin",
    solver: solver.address,
    salt: word("07"),
    inputs: [
      {
        payment: { chainId: "origin", currency: USDC, amount: "1000", weight: "1" },
        refunds: [
          {
            chainId: "origin",
            recipient: USER,
            currency: USDC,
            minimumAmount: "980",
            deadline: 9_000,
            extraData: "0x",
          },
        ],
      },
    ],
    output: {
      chainId: "destination",
      payments: [{ recipient: RECIPIENT, currency: USDC, minimumAmount: "990", expectedAmount: "995" }],
      calls: [],
      deadline: 5_000,
      extraData: "0x",
    },
    fees: [],
  };
  edit(order);
  return order;
}

export function orderIdFor(order: AttestedOrder): Hex32 {
  return orderIdOf(orderFromJson(order));
}

export async function signOrder(signer: Signer, order: AttestedOrder): Promise<Hex> {
  return await signPersonalMessage(signer, orderIdFor(order));
}

export const DEPOSIT_TX = word("11");
export const FILL_TX = word("22");
export const REFUND_TX = word("33");

/** Makes a deposit for every input, and the fill. Returns the request that claims the fill. */
export async function aFill(world: OracleWorld, order: AttestedOrder = anOrder()) {
  const depositId = orderIdFor(order);
  world.origin.addDeposits(
    DEPOSIT_TX,
    order.inputs.map(({ payment }) => ({
      depositId,
      amount: BigInt(payment.amount),
      currency: payment.currency,
    })),
  );
  world.destination.addPayment(
    FILL_TX,
    order.output.payments.map((payment) => [
      payment.recipient,
      payment.currency,
      BigInt(payment.minimumAmount),
    ]),
  );
  return {
    order,
    orderSignature: await signOrder(solver, order),
    inputs: order.inputs.map((_, index) => ({
      transactionId: DEPOSIT_TX as string,
      onchainId: onchainId("origin", DEPOSIT_TX, String(index)) as string,
      inputIndex: index,
    })),
    fill: { transactionId: FILL_TX as string },
  };
}

/** Makes a deposit for every input, and one refund for each. Returns the request that claims the refunds. */
export async function aRefund(world: OracleWorld, order: AttestedOrder = anOrder()) {
  const { fill: _, ...request } = await aFill(world, order);
  world.origin.addPayment(
    REFUND_TX,
    order.inputs.flatMap(({ refunds: [option] }) =>
      option === undefined
        ? []
        : [[option.recipient, option.currency, BigInt(option.minimumAmount)] as const],
    ),
  );
  return {
    ...request,
    refunds: order.inputs.map((_input, inputIndex) => ({
      transactionId: REFUND_TX as string,
      inputIndex,
      refundIndex: 0,
    })),
  };
}
