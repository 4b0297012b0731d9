import { bytesOf, keccak, toHex, writeHex, type Address, type Hex32 } from "@causeway/domain";
import { encodeAddress, type ConfiguredChain } from "@causeway/families";

/** The parts of a chain that its hub addresses depend on. */
export type HubChain = Pick<ConfiguredChain, "name" | "vmType">;

const utf8 = new TextEncoder();

/**
 * Hash of concatenated values without lengths. Only the last variable-length value may be untrusted, or two
 * lists of values could collide.
 */
function packedHash(...values: readonly Uint8Array[]): Uint8Array {
  const packed = new Uint8Array(values.reduce((length, value) => length + value.length, 0));
  let offset = 0;
  for (const value of values) {
    packed.set(value, offset);
    offset += value.length;
  }
  return keccak(packed);
}

/**
 * Limits of the cache of hashes: currencies and solvers recur in every attestation, but depositors are
 * untrusted.
 */
const MAX_CACHED = 4_096;
const MAX_CACHED_KEY_LENGTH = 256;
function cacheByChain<T>(hash: (chain: HubChain, text: string) => T): (chain: HubChain, text: string) => T {
  let cache = new Map<string, T>();
  return (chain, text) => {
    // Names and families contain no line breaks, so keys cannot collide.
    const key = `${chain.vmType}\n${chain.name}\n${text}`;
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const fresh = hash(chain, text);
    if (key.length > MAX_CACHED_KEY_LENGTH) return fresh;
    if (cache.size >= MAX_CACHED) cache = new Map();
    cache.set(key, fresh);
    return fresh;
  };
}

const lastTwenty = (hash: Uint8Array): Address => toHex(hash.subarray(12));
const addressBytes = (chain: HubChain, text: string, field: string) =>
  bytesOf(encodeAddress(chain.vmType, text, field));

/**
 * The hub's token of a chain's currency.
 * @throws ServiceError INVALID_REQUEST if `currency` belongs to another chain family
 */
export const hubTokenId = cacheByChain((chain, currency) =>
  BigInt(toHex(packedHash(utf8.encode(chain.name), addressBytes(chain, currency, "currency")))),
);

/**
 * The hub account of a chain's address.
 * @throws ServiceError INVALID_REQUEST if `address` belongs to another chain family
 */
export const hubAlias = cacheByChain((chain, address) =>
  lastTwenty(packedHash(utf8.encode(chain.name), addressBytes(chain, address, "address"))),
);

/** The deposit of an order, from which its hub account is derived. */
export interface OrderDeposit {
  readonly depositor: string;
  /** Unix seconds of the deposit's block. */
  readonly timestamp: bigint;
  readonly depositId: Hex32;
}

/**
 * The hub account that holds a deposit until its order is settled.
 * @throws ServiceError INVALID_REQUEST if the depositor belongs to another chain family, RangeError for a
 * malformed id or timestamp
 */
export function orderAddress(chain: HubChain, { depositor, timestamp, depositId }: OrderDeposit): Address {
  return lastTwenty(
    packedHash(
      utf8.encode(chain.name),
      addressBytes(chain, depositor, "depositor"),
      uint256(timestamp),
      fixed(depositId, 32),
    ),
  );
}

/** The components of a withdrawal address. The amount and family-specific data are not part of it. */
export interface WithdrawalTarget {
  readonly depository: string;
  readonly currency: string;
  readonly recipient: string;
  /** The hub account that pays, see `hubAlias`. */
  readonly ownerAlias: Address;
  readonly nonce: Hex32;
}

/**
 * The hub account that holds the amount of one withdrawal.
 * @throws ServiceError INVALID_REQUEST if an address belongs to another chain family, RangeError for a
 * malformed alias or nonce
 */
export function withdrawalAddress(chain: HubChain, target: WithdrawalTarget): Address {
  return lastTwenty(
    packedHash(
      utf8.encode(chain.name),
      addressBytes(chain, target.depository, "depository"),
      addressBytes(chain, target.currency, "currency"),
      addressBytes(chain, target.recipient, "recipient"),
      fixed(target.ownerAlias, 20),
      fixed(target.nonce, 32),
    ),
  );
}

function fixed(hex: string, length: number): Uint8Array {
  if (hex.length !== 2 + 2 * length) throw new RangeError(`not ${length} bytes: ${hex.slice(0, 80)}`);
  return bytesOf(hex);
}

function uint256(value: bigint): Uint8Array {
  if (value < 0n || value >> 256n !== 0n) throw new RangeError(`${value} is not a uint256`);
  const word = new Uint8Array(32);
  writeHex(`0x${value.toString(16).padStart(64, "0")}`, word, 0);
  return word;
}
