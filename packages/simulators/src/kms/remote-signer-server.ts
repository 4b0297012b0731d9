import type { Address, Hex } from "@causeway/domain";
import { hexToBigInt, hexToNumber, keccak256, serializeSignature, type TransactionSerializable } from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";
import { startLocalHttp, type LocalAnswer, type LocalRequest } from "./local-http.ts";

export interface RemoteSignerServerOptions {
  readonly privateKeys: readonly Hex[];
  /** `user:password` for basic authentication, which callers must send. */
  readonly credentials?: string;
}

export interface RunningRemoteSigner {
  readonly url: string;
  /**
   * Called for each signing request with its JSON-RPC method or `sign`. Can return another response, or
   * change the transaction before it is signed.
   */
  onSign(fault: SignFault | undefined): void;
  /** Number of signing requests since the start, by method. */
  signed(method: string): number;
  stop(): Promise<void>;
}

export type SignFault = (method: string) => Promise<Fault | undefined> | Fault | undefined;
export type Fault = { readonly answer: LocalAnswer } | { readonly transaction: object };

/**
 * A vault for Ethereum keys: Web3Signer's REST API (`/api/v1/eth1`), and the JSON-RPC methods
 * `eth_signTransaction`, `eth_sign` and `eth_signTypedData` at `/`. Signs with viem.
 */
export async function startRemoteSigner(options: RemoteSignerServerOptions): Promise<RunningRemoteSigner> {
  const accounts = options.privateKeys.map((privateKey) => ({
    privateKey,
    account: privateKeyToAccount(privateKey),
  }));
  const counts = new Map<string, number>();
  let faultOf: SignFault | undefined;

  const findAccount = (address: unknown) =>
    accounts.find(({ account }) => account.address.toLowerCase() === String(address).toLowerCase());
  const countCall = async (method: string): Promise<Fault | undefined> => {
    counts.set(method, (counts.get(method) ?? 0) + 1);
    return await faultOf?.(method);
  };

  async function rest({ method, path, body }: LocalRequest): Promise<LocalAnswer> {
    // Without the leading 04, as Web3Signer identifies keys.
    const identifiers = accounts.map(({ account }) => `0x${account.publicKey.slice(4)}`);
    if (method === "GET" && path === "/api/v1/eth1/publicKeys") return { status: 200, body: identifiers };
    const identifier = /^\/api\/v1\/eth1\/sign\/(0x[0-9a-f]+)$/.exec(path)?.[1] ?? "";
    const key = accounts[identifiers.indexOf(identifier)];
    if (method !== "POST" || key === undefined) return { status: 404, body: "Public Key not found" };
    const fault = await countCall("sign");
    if (fault !== undefined && "answer" in fault) return fault.answer;
    const { data } = JSON.parse(body) as { readonly data: Hex };
    const signature = await sign({ hash: keccak256(data), privateKey: key.privateKey });
    return { status: 200, body: serializeSignature(signature) };
  }

  async function rpc({ body }: LocalRequest): Promise<LocalAnswer> {
    const { id, method, params } = JSON.parse(body) as {
      readonly id: number;
      readonly method: string;
      readonly params: readonly never[];
    };
    const answer = (rest: object): LocalAnswer => ({ status: 200, body: { jsonrpc: "2.0", id, ...rest } });
    const fault = await countCall(method);
    if (fault !== undefined && "answer" in fault) return fault.answer;
    const [first = {} as never, second] = params;
    const key = findAccount(method === "eth_signTransaction" ? (first as { from?: Address }).from : first);
    if (key === undefined) return answer({ error: { code: -32_000, message: "unknown account" } });
    switch (method) {
      case "eth_signTransaction": {
        const transaction = { ...transactionOf(first), ...fault?.transaction } as TransactionSerializable;
        return answer({ result: await key.account.signTransaction(transaction) });
      }
      case "eth_sign":
        return answer({ result: await key.account.signMessage({ message: { raw: second as never } }) });
      case "eth_signTypedData":
        return answer({ result: await key.account.signTypedData(second as never) });
      default:
        return answer({ error: { code: -32_601, message: "Method not found" } });
    }
  }

  const expected = options.credentials && `Basic ${Buffer.from(options.credentials).toString("base64")}`;
  const server = await startLocalHttp(async (request) => {
    if (expected !== undefined && request.headers.authorization !== expected)
      return { status: 401, body: "Unauthorized" };
    return await (request.path === "/" ? rpc(request) : rest(request));
  });
  return {
    url: server.url,
    onSign: (fault) => void (faultOf = fault),
    signed: (method) => counts.get(method) ?? 0,
    stop: async () => await server.stop(),
  };
}

/** The JSON-RPC object as viem serializes it. */
function transactionOf(call: Readonly<Record<string, Hex>>): object {
  const big = (name: string): bigint => hexToBigInt(call[name] ?? "0x0");
  const list = call["authorizationList"] as unknown as readonly Readonly<Record<string, Hex>>[] | undefined;
  return {
    type: list === undefined ? "eip1559" : "eip7702",
    chainId: hexToNumber(call["chainId"] ?? "0x0"),
    nonce: hexToNumber(call["nonce"] ?? "0x0"),
    to: call["to"],
    value: big("value"),
    data: call["data"],
    gas: big("gas"),
    maxFeePerGas: big("maxFeePerGas"),
    maxPriorityFeePerGas: big("maxPriorityFeePerGas"),
    ...(list && {
      authorizationList: list.map((authorization) => ({
        ...authorization,
        chainId: hexToNumber(authorization["chainId"] ?? "0x0"),
        nonce: hexToNumber(authorization["nonce"] ?? "0x0"),
        yParity: hexToNumber(authorization["yParity"] ?? "0x0"),
      })),
    }),
  };
}
