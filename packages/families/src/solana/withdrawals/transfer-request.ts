import { decodeWith, encodeWith } from "../../address-codec.ts";
import { solanaCodec } from "../address-codec.ts";
import { bytesOf, sha256, toHex, writeHex, type Hex, type Hex32 } from "@causeway/domain";

/** What the allocator signs for a Solana depository. Keys in base58. */
export interface SolanaTransferRequest {
  /** Distinguishes deployments, so that a request is valid in only one. */
  readonly domain: Hex32;
  readonly recipient: string;
  /** Mint; the family's native currency for lamports. */
  readonly token: string;
  /** uint64. */
  readonly amount: bigint;
  /** uint64. */
  readonly nonce: bigint;
  /** Unix seconds, int64: the request can be executed before this time. */
  readonly expiration: bigint;
  readonly vaultAddress: string;
}

const NATIVE = solanaCodec.nativeCurrency;
const LENGTH_NATIVE = 32 + 32 + 1 + 8 + 8 + 8 + 32;
const LENGTH_TOKEN = LENGTH_NATIVE + 32;

/**
 * The payload of a request: its borsh encoding. For the native currency, the optional token is absent.
 * @throws ServiceError INVALID_REQUEST for an invalid key, RangeError if a number or the domain does not fit
 * its type
 */
export function encodeSolanaTransferRequest(request: SolanaTransferRequest): Hex {
  const isToken = request.token !== NATIVE;
  const bytes = new Uint8Array(isToken ? LENGTH_TOKEN : LENGTH_NATIVE);
  const view = new DataView(bytes.buffer);
  if (request.domain.length !== 66) throw new RangeError("domain must be 32 bytes");
  writeHex(request.domain, bytes, 0);
  const key = (text: string, field: string, offset: number) =>
    writeHex(encodeWith(solanaCodec, text, field), bytes, offset);
  key(request.recipient, "recipient", 32);
  bytes[64] = isToken ? 1 : 0;
  if (isToken) key(request.token, "token", 65);
  const numbers = isToken ? 97 : 65;
  if (BigInt.asUintN(64, request.amount) !== request.amount) throw new RangeError("amount must be a uint64");
  if (BigInt.asUintN(64, request.nonce) !== request.nonce) throw new RangeError("nonce must be a uint64");
  if (BigInt.asIntN(64, request.expiration) !== request.expiration)
    throw new RangeError("expiration must be an int64");
  view.setBigUint64(numbers, request.amount, true);
  view.setBigUint64(numbers + 8, request.nonce, true);
  view.setBigInt64(numbers + 16, request.expiration, true);
  key(request.vaultAddress, "vaultAddress", numbers + 24);
  return toHex(bytes);
}

/**
 * The request of a payload; undefined unless it is exactly what `encodeSolanaTransferRequest` writes,
 * ignoring letter case.
 */
export function decodeSolanaTransferRequest(payload: Hex): SolanaTransferRequest | undefined {
  if (!/^0x(?:[0-9a-fA-F]{2})+$/.test(payload)) return undefined;
  const bytes = bytesOf(payload);
  const isToken = bytes[64] === 1;
  if (!isToken && bytes[64] !== 0) return undefined;
  if (bytes.length !== (isToken ? LENGTH_TOKEN : LENGTH_NATIVE)) return undefined;
  const view = new DataView(bytes.buffer);
  const key = (offset: number) => decodeWith(solanaCodec, toHex(bytes.subarray(offset, offset + 32)));
  const token = isToken ? key(65) : NATIVE;
  // "Some token, the native one" would be a second encoding of a native payment, with another id.
  if (isToken && token === NATIVE) return undefined;
  const numbers = isToken ? 97 : 65;
  return {
    domain: toHex(bytes.subarray(0, 32)),
    recipient: key(32),
    token,
    amount: view.getBigUint64(numbers, true),
    nonce: view.getBigUint64(numbers + 8, true),
    expiration: view.getBigInt64(numbers + 16, true),
    vaultAddress: key(numbers + 24),
  };
}

/**
 * The id of a request at the depository: sha256 of its payload.
 * @throws as `encodeSolanaTransferRequest`
 */
export function solanaTransferRequestId(request: SolanaTransferRequest): Hex32 {
  return toHex(sha256(bytesOf(encodeSolanaTransferRequest(request))));
}
