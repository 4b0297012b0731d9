import { lighterTransferText, type Address, type Hex32 } from "@causeway/domain";
import { privateKeyToAccount } from "viem/accounts";
import { openEndpoint, type LighterEndpoint } from "./endpoint.ts";
import { LighterExchange } from "./exchange.ts";
import { loadSigner, type LighterSigner, type SignedTransaction, type TransferToSign } from "./signer.ts";

export interface LighterOptions {
  /** On 127.0.0.1. Default: any free port. */
  readonly port?: number;
  /** The chain id that signers must use. Default 304. */
  readonly chainId?: bigint;
  /** Address of Lighter's contract on Ethereum. */
  readonly contract?: Address;
}

/** An account with known owner key and API key. */
export interface LighterWallet {
  readonly index: bigint;
  readonly l1Address: Address;
  /**
   * Registers another API key with nonce 0.
   *
   * @param apiKeyIndex 3 to 254; key 2 always exists
   */
  addKey(apiKeyIndex: bigint): void;
  /**
   * Signs a transfer from this account. Defaults: USDC of the perpetuals balance, no fee, no memo, key 2, its
   * next nonce, ten minutes.
   */
  sign(transfer: TransferRequest): Promise<SignedTransaction>;
  /**
   * Signs a transfer and submits it over HTTP as any client does.
   *
   * @returns its hash
   * @throws Error with Lighter's message if it refuses
   */
  send(transfer: TransferRequest): Promise<string>;
}

export type TransferRequest = Pick<TransferToSign, "toAccountIndex" | "amount"> &
  Partial<Omit<TransferToSign, "fromAccountIndex">>;

/** A local Lighter and its explorer. */
export interface RunningLighter extends LighterEndpoint {
  /** Its state and its clock, for tests to change. */
  readonly exchange: LighterExchange;
  /** Opens an account with a fresh key, and funds it. @param l1PrivateKey the owner's key, 32 bytes */
  openWallet(index: bigint, l1PrivateKey: Hex32, dollars?: bigint): LighterWallet;
  /** Submits a signed transaction over HTTP. @throws Error with Lighter's message if it refuses */
  send(txInfo: string): Promise<string>;
  /** Opens another endpoint of the same Lighter, with separate faults. */
  openEndpoint(): Promise<LighterEndpoint>;
}

const TEN_MINUTES_MS = 600_000;
/** Keys 0 and 1 belong to Lighter's own clients. */
const FIRST_KEY = 2n;
const NO_MEMO: Hex32 = `0x${"00".repeat(32)}`;

/** Starts the simulator; it listens on 127.0.0.1 until it is closed. */
export async function startLighter({
  port = 0,
  chainId = 304n,
  contract,
}: LighterOptions = {}): Promise<RunningLighter> {
  const signer = await loadSigner();
  const anyKey = signer.generateKey().privateKey;
  const exchange = new LighterExchange({
    chainId,
    ...(contract !== undefined && { contract }),
    // A hash covers the fields but not the key, so every signer gets the same hash for the same fields.
    hashOf: (transfer) => Promise.resolve(signer.signTransfer(anyKey, chainId, transfer).hash),
  });
  const endpoint = await openEndpoint(exchange, port);
  const extraEndpoints: LighterEndpoint[] = [];
  const send = async (txInfo: string): Promise<string> => {
    const response = await fetch(`${endpoint.url}/api/v1/sendTx`, {
      method: "POST",
      body: new URLSearchParams({ tx_type: "12", tx_info: txInfo }),
    });
    const answer = (await response.json()) as { readonly message: string; readonly tx_hash?: string };
    if (answer.tx_hash === undefined) throw new Error(`the local Lighter refused: ${answer.message}`);
    return answer.tx_hash;
  };

  return {
    ...endpoint,
    exchange,
    send,
    openWallet: (index, l1PrivateKey, dollars = 0n) =>
      openWallet({ exchange, signer, send }, index, l1PrivateKey, dollars),
    openEndpoint: async () => {
      const extraEndpoint = await openEndpoint(exchange);
      extraEndpoints.push(extraEndpoint);
      return extraEndpoint;
    },
    close: async () => {
      await Promise.all([endpoint, ...extraEndpoints].map((opened) => opened.close()));
    },
  };
}

function openWallet(
  {
    exchange,
    signer,
    send,
  }: { exchange: LighterExchange; signer: LighterSigner; send: RunningLighter["send"] },
  index: bigint,
  l1PrivateKey: Hex32,
  dollars: bigint,
): LighterWallet {
  const owner = privateKeyToAccount(l1PrivateKey);
  const l1Address = owner.address.toLowerCase() as Address;
  const account = exchange.ledger.open(index, l1Address);
  const privateKeys = new Map<bigint, string>();
  const addKey = (apiKeyIndex: bigint): void => {
    const { privateKey, publicKey } = signer.generateKey();
    privateKeys.set(apiKeyIndex, privateKey);
    account.keys.set(apiKeyIndex, { publicKey, nonce: 0n });
  };
  addKey(FIRST_KEY);
  exchange.ledger.credit(index, 3n, 0n, dollars);

  const sign = async (request: TransferRequest): Promise<SignedTransaction> => {
    const { apiKeyIndex = FIRST_KEY } = request;
    const privateKey = privateKeys.get(apiKeyIndex);
    if (privateKey === undefined) throw new RangeError(`account ${index} has no key ${apiKeyIndex}`);
    const transfer: TransferToSign = {
      assetIndex: 3n,
      fromRouteType: 0n,
      toRouteType: 0n,
      usdcFee: 0n,
      memo: NO_MEMO,
      nonce: account.keys.get(apiKeyIndex)?.nonce ?? 0n,
      expiredAt: BigInt(exchange.time + TEN_MINUTES_MS),
      ...request,
      fromAccountIndex: index,
      apiKeyIndex,
    };
    const signed = signer.signTransfer(privateKey, exchange.chainId, transfer);
    const message = lighterTransferText({ ...transfer, lighterChainId: exchange.chainId });
    const ownersSignature = await owner.signMessage({ message });
    return { ...signed, txInfo: signed.txInfo.replace('"L1Sig":""', `"L1Sig":"${ownersSignature}"`) };
  };
  return {
    index,
    l1Address,
    addKey,
    sign,
    send: async (request) => await send((await sign(request)).txInfo),
  };
}
