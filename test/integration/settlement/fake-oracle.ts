import {
  depositKey,
  depositoryDepositId,
  encodeHubAction,
  executionDigester,
  fillKey,
  hubAlias,
  hubTokenId,
  messageDigest,
  onchainId,
  orderAddress,
  refundKey,
  signatureToHex,
  solverFillId,
  solverRefundId,
  type Signer,
} from "@causeway/attest";
import {
  orderIdOf,
  type AttestationHub,
  type Hex,
  type Hex32,
  type OrderJson,
  type TxHash,
  type VmType,
} from "@causeway/domain";
import { encodeOrder } from "@causeway/families";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestChain } from "../../support/test-chain.ts";

/** Replaces the answer of an honest oracle. */
export type Behavior = (path: string, body: Body, honest: () => Promise<object>) => Promise<Reply>;

export interface Reply {
  readonly status: number;
  readonly json: unknown;
}

export interface Body {
  readonly chainId: string;
  readonly transactionId: TxHash;
  readonly order: OrderJson;
  readonly orderSignature: Hex;
  readonly inputs: readonly { transactionId: TxHash; onchainId: Hex32; inputIndex: number }[];
  readonly fill?: { transactionId: TxHash };
  readonly refunds?: readonly { transactionId: TxHash; inputIndex: number; refundIndex: number }[];
  readonly requestPeerSignatures?: boolean;
  readonly requireThreshold?: boolean;
}

/** An oracle on a real socket that reports the state of the test chains, with any number of signatures. */
export interface FakeOracle {
  readonly url: string;
  /** The requests so far, oldest first. */
  readonly requests: { readonly path: string; readonly body: Body }[];
  behave(behavior: Behavior): void;
  close(): Promise<void>;
}

/** Signs messages as the signers of the oracle do. */
export interface Signing {
  message(id: Hex32): Promise<{ oracle: Hex; signature: Hex }[]>;
  execution(execution: { idempotencyKey: Hex32; actions: Hex[] }): Promise<object>;
  digest(digest: Hex32): Promise<{ signer: Hex; signature: Hex }[]>;
}

/** Answers further routes. Returns undefined for all others. */
export type MoreRoutes = (path: string, body: Body, signing: Signing) => Promise<object | undefined>;

/** A chain as an oracle reads it, in the formats of its family. */
export interface AttestedChain {
  readonly name: string;
  readonly family: VmType;
  depositsOf(transactionId: string): Promise<
    readonly {
      /** The position of the deposit in its transaction: the last part of its id. */
      readonly index: string;
      readonly depository: string;
      readonly depositId: Hex32;
      readonly depositor: string;
      readonly currency: string;
      readonly amount: bigint;
      /** Unix seconds. */
      readonly timestamp: bigint;
    }[]
  >;
}

/** The view of a real chain. */
export function attestedChain({ chain, connected }: TestChain): AttestedChain {
  return {
    name: chain.name,
    family: "ethereum-vm",
    async depositsOf(transactionId) {
      const { reader } = connected.connection;
      const state = await reader.transaction(transactionId as TxHash);
      if (state.kind !== "mined") throw new Error("not mined");
      const block = await reader.block(state.receipt.blockNumber);
      return reader.depositsOf(state).map(({ logIndex, id, depositor, currency, amount, depository }) => ({
        index: String(logIndex),
        depository: depository ?? chain.contracts.depository,
        depositId: id ?? (`0x${"00".repeat(32)}` as const),
        depositor,
        currency,
        amount,
        timestamp: block?.timestamp ?? 0n,
      }));
    },
  };
}

export const honest: Behavior = async (_path, _body, answer) => ({ status: 200, json: await answer() });

export async function startFakeOracle(
  chains: readonly AttestedChain[],
  hub: AttestationHub,
  signers: readonly Signer[],
  moreRoutes: MoreRoutes = async () => undefined,
): Promise<FakeOracle> {
  let behavior = honest;
  const requests: FakeOracle["requests"] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? "";
      const body = JSON.parse(await textOf(request)) as Body;
      requests.push({ path, body });
      const { status, json } = await behavior(path, body, () => attest(path, body));
      const text = JSON.stringify(json);
      response.writeHead(status, { "content-type": "application/json" }).end(text);
    })().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const digest = executionDigester(hub);
  // Other chains, such as the solver's own chain, belong to the hub's family.
  const familyOf = (name: string): VmType =>
    chains.find((chain) => chain.name === name)?.family ?? "ethereum-vm";
  const chainRef = (name: string) => ({ name, vmType: familyOf(name) });

  async function attest(path: string, body: Body): Promise<object> {
    const answer = await moreRoutes(path, body, signing);
    if (answer !== undefined) return answer;
    if (path.includes("deposits")) return await attestDeposits(body.chainId, body.transactionId);
    return await attestPayment(body);
  }

  async function deposits(chainName: string, transactionId: string) {
    const chain = chains.find((candidate) => candidate.name === chainName);
    if (chain === undefined) throw new Error(`no chain ${chainName}`);
    return (await chain.depositsOf(transactionId)).map(({ index: place, timestamp, ...rest }) => ({
      message: {
        data: { chainId: chainName, transactionId },
        result: { onchainId: onchainId(chainName, transactionId, place), ...rest },
      },
      timestamp,
    }));
  }

  async function attestDeposits(chainName: string, transactionId: string): Promise<object> {
    const attestedDeposits = await deposits(chainName, transactionId);
    const actions = attestedDeposits.map(({ message: { result }, timestamp }) =>
      encodeHubAction({
        kind: "mint",
        to: orderAddress(chainRef(chainName), { ...result, timestamp }),
        tokenId: hubTokenId(chainRef(chainName), result.currency),
        amount: result.amount,
      }),
    );
    return {
      messages: await Promise.all(
        attestedDeposits.map(async ({ message, timestamp }) => ({
          data: message.data,
          result: { ...message.result, amount: message.result.amount.toString() },
          extraData: { timestamp: timestamp.toString() },
          signatures: await signMessage(depositoryDepositId(familyOf, message)),
        })),
      ),
      execution: await signExecution({ idempotencyKey: depositKey(chainName, transactionId), actions }),
    };
  }

  async function attestPayment(body: Body): Promise<object> {
    const order = encodeOrder(body.order, familyOf);
    const orderId = orderIdOf(order);
    const [entry] = body.inputs;
    const input = order.inputs[0];
    if (entry === undefined || input === undefined) throw new Error("no input");
    const deposit = (await deposits(input.payment.chainId, entry.transactionId)).find(
      ({ message }) => message.result.onchainId === entry.onchainId,
    );
    if (deposit === undefined) throw new Error("deposit not found");
    const { amount, currency } = deposit.message.result;
    const requested = input.payment.amount * input.payment.weight;
    const result = {
      orderId,
      status: 1 as const,
      totalWeightedInputPaymentBpsDiff:
        ((amount * input.payment.weight - requested) * 10n ** 18n) / requested,
    };
    const { orderSignature, inputs, fill, refunds } = body;
    const data = { order, orderSignature, inputs };
    const payment = fill
      ? { chain: order.output.chainId, transactionId: fill.transactionId }
      : { chain: input.payment.chainId, transactionId: refunds?.[0]?.transactionId ?? "" };
    const settlement = { orderId, onchainIds: [entry.onchainId], payment };
    const id = fill
      ? solverFillId(familyOf, { data: { ...data, fill }, result })
      : solverRefundId(familyOf, { data: { ...data, refunds: refunds ?? [] }, result });
    const action = encodeHubAction({
      kind: "transfer",
      from: orderAddress(chainRef(input.payment.chainId), {
        ...deposit.message.result,
        timestamp: deposit.timestamp,
      }),
      to: hubAlias(chainRef(order.solverChainId), order.solver),
      tokenId: hubTokenId(chainRef(input.payment.chainId), currency),
      amount,
    });
    return {
      message: {
        data: { order: body.order, orderSignature, inputs, ...(fill ? { fill } : { refunds }) },
        result: {
          ...result,
          totalWeightedInputPaymentBpsDiff: result.totalWeightedInputPaymentBpsDiff.toString(),
        },
        signatures: await signMessage(id),
      },
      execution: await signExecution({
        idempotencyKey: fill
          ? fillKey(hub.settlementKey, settlement)
          : refundKey(hub.settlementKey, settlement, 1),
        actions: [action],
      }),
    };
  }

  const signMessage = async (id: Hex32) =>
    await Promise.all(
      signers.map(async (signer) => ({
        oracle: signer.address,
        signature: signatureToHex(await signer.signDigest(messageDigest(id))),
      })),
    );
  const signExecution = async (execution: { idempotencyKey: Hex32; actions: Hex[] }) => ({
    ...execution,
    signatures: await Promise.all(
      signers.map(async (signer) => ({
        oracleChainId: String(hub.chainId),
        oracleContract: hub.oracleAddress,
        oracleSigner: signer.address,
        signature: signatureToHex(await signer.signDigest(digest(execution))),
      })),
    ),
  });

  const signing: Signing = {
    message: signMessage,
    execution: signExecution,
    digest: async (digestToSign) =>
      await Promise.all(
        signers.map(async (signer) => ({
          signer: signer.address,
          signature: signatureToHex(await signer.signDigest(digestToSign)),
        })),
      ),
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    behave(next) {
      behavior = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
