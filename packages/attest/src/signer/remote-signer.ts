import type { Address, Hex32 } from "@causeway/domain";
import { numberToHex, parseTransaction, stringify } from "viem";
import { addressOf } from "./address-of.ts";
import { digestBytes } from "./bytes.ts";
import { signatureBy } from "./foreign-signature.ts";
import { preimageBytes, withDomainType, type Preimage, type TransactionFields } from "./preimage.ts";
import type { Signature, Signer } from "./signer.ts";
import { signerHttp, type SignerHttp } from "./signer-http.ts";
import { SignerUnavailable } from "./signer-unavailable.ts";

export interface RemoteSignerOptions {
  /** User and password of the URL are sent as basic authentication. */
  readonly url: string;
  readonly address: Address;
  /** Timeout of one call, ms. Default: 5000. */
  readonly deadlineMs?: number | undefined;
}

interface Remote {
  readonly http: SignerHttp;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Sign = (preimage: Preimage, digest: Hex32) => Promise<SignatureParts | undefined>;

interface SignatureParts {
  readonly r: bigint;
  readonly s: bigint;
}

/**
 * A key behind Web3Signer's REST API, `POST /api/v1/eth1/sign/{publicKey}`. It receives the bytes of the
 * transaction or message and hashes them itself, so it works for every chain.
 */
export function web3Signer(options: RemoteSignerOptions): Signer & { close(): Promise<void> } {
  const remote = remoteAt(options);
  let publicKey: string | undefined;
  return remoteSigner(options, remote.http, async (preimage, digest) => {
    publicKey ??= await publicKeyOf(remote, options.address);
    const signature = await remote.http.call({
      method: "POST",
      path: `${remote.path}/api/v1/eth1/sign/${publicKey}`,
      headers: remote.headers,
      body: { data: preimageBytes(preimage, digest) },
    });
    return partsOf(signature);
  });
}

/**
 * A key behind the JSON-RPC methods `eth_signTransaction`, `eth_sign` and `eth_signTypedData`: the remote
 * signer sees the fields of what it signs.
 */
export function ethRpcSigner(options: RemoteSignerOptions): Signer & { close(): Promise<void> } {
  const { http, path, headers } = remoteAt(options);
  const { address } = options;
  let id = 0;

  async function rpc(method: string, params: readonly unknown[]): Promise<unknown> {
    const body = stringify({ jsonrpc: "2.0", id: ++id, method, params });
    const answer = await http.call({ method: "POST", path: path === "" ? "/" : path, headers, body });
    if (typeof answer !== "object" || answer === null) throw new SignerUnavailable("bad-answer");
    if ("error" in answer && answer.error !== null) throw new SignerUnavailable("refused");
    return "result" in answer ? answer.result : undefined;
  }

  return remoteSigner(options, http, async (preimage, digest) => {
    // Check that the digest matches what is sent: afterwards only the digest is compared.
    preimageBytes(preimage, digest);
    switch (preimage.kind) {
      case "transaction":
        return partsOfTransaction(await rpc("eth_signTransaction", [callOf(address, preimage.transaction)]));
      case "message":
        return partsOf(await rpc("eth_sign", [address, preimage.bytes]));
      case "typedData":
        return partsOf(await rpc("eth_signTypedData", [address, withDomainType(preimage.typedData)]));
      default:
        return preimage satisfies never;
    }
  });
}

/**
 * The answer counts only if it recovers to our address over our own digest. The digest covers every field, so
 * a remote signer that changes one returns an invalid signature.
 */
function remoteSigner(
  { address }: RemoteSignerOptions,
  http: SignerHttp,
  sign: Sign,
): Signer & { close(): Promise<void> } {
  return {
    address,
    async signDigest(digest: Hex32, preimage?: Preimage): Promise<Signature> {
      digestBytes(digest);
      if (preimage === undefined)
        throw new RangeError("invariant violated: a remote signer signs no digest without its preimage");
      const parts = await sign(preimage, digest);
      const signature = parts && signatureBy(address, digest, parts);
      if (signature === undefined) throw new SignerUnavailable("bad-answer");
      return signature;
    },
    close: async () => await http.close(),
  };
}

function remoteAt({ url, deadlineMs }: RemoteSignerOptions): Remote {
  const { origin, pathname, username, password } = new URL(url);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    http: signerHttp({ origin, deadlineMs }),
    path: pathname.replace(/\/+$/, ""),
    headers:
      credentials === ":" ? {} : { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` },
  };
}

/** The identifier of our key: an uncompressed public key without its leading 04. */
async function publicKeyOf({ http, path, headers }: Remote, address: Address): Promise<string> {
  const keys = await http.call({ method: "GET", path: `${path}/api/v1/eth1/publicKeys`, headers });
  if (!Array.isArray(keys)) throw new SignerUnavailable("bad-answer");
  const ownKey = keys.find((key): key is string => {
    const point = typeof key === "string" ? /^0x(?:04)?([0-9a-fA-F]{128})$/.exec(key)?.[1] : undefined;
    return point !== undefined && addressOf(Buffer.from(`04${point}`, "hex")) === address;
  });
  if (ownKey === undefined) throw new SignerUnavailable("unknown-key");
  return ownKey;
}

/** r and s of a 65-byte signature. v is ignored: the parity is found by recovery. */
function partsOf(signature: unknown): SignatureParts | undefined {
  if (typeof signature !== "string" || !/^0x[0-9a-fA-F]{130}$/.test(signature)) return undefined;
  return { r: BigInt(signature.slice(0, 66)), s: BigInt(`0x${signature.slice(66, 130)}`) };
}

/** r and s of a signed transaction: raw bytes, or Geth's object that contains them. */
function partsOfTransaction(answer: unknown): SignatureParts | undefined {
  const raw = typeof answer === "object" && answer !== null && "raw" in answer ? answer.raw : answer;
  if (typeof raw !== "string" || !/^0x0[24][0-9a-fA-F]+$/.test(raw)) return undefined;
  try {
    const { r, s } = parseTransaction(raw as `0x02${string}`);
    return r === undefined || s === undefined ? undefined : { r: BigInt(r), s: BigInt(s) };
  } catch {
    return undefined;
  }
}

/** The transaction object of Ethereum's JSON-RPC interface. */
function callOf(from: Address, transaction: TransactionFields): object {
  const { chainId, nonce, to, value, data, gas, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  const { authorizationList } = transaction;
  return {
    from,
    to,
    chainId: numberToHex(chainId),
    nonce: numberToHex(nonce),
    value: numberToHex(value),
    // Some clients read `data`, others `input`.
    data,
    input: data,
    gas: numberToHex(gas),
    maxFeePerGas: numberToHex(maxFeePerGas),
    maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas),
    accessList: [],
    type: authorizationList === undefined ? "0x2" : "0x4",
    ...(authorizationList && {
      authorizationList: authorizationList.map((authorization) => ({
        chainId: numberToHex(authorization.chainId),
        address: authorization.address,
        nonce: numberToHex(authorization.nonce),
        yParity: numberToHex(authorization.yParity),
        r: authorization.r,
        s: authorization.s,
      })),
    }),
  };
}
