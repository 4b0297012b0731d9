import { bytesOf, keccak, structWriter, toHex } from "../hashing/struct-writer.ts";
import type { Address, Hex32 } from "../ids/hex.ts";

/**
 * The parameters of a deposit address: changing any value changes the address. Mirrors the contracts'
 * `DepositAddressKey`.
 */
export interface DepositAddressKey {
  /** The id of the order that the address was created for. */
  readonly id: Hex32;
  /** The depositor of its deposits. */
  readonly depositor: Address;
  /** May withdraw everything; zero means no one. */
  readonly recovery: Address;
  /** Everything at the address is deposited under the order `id`: the contract refuses any other. */
  readonly strict: boolean;
}

const words = structWriter(4);
/** keccak256("ReceiveETH(uint256)"). */
const TOPIC = "9e4ac34f21c619cefc926c8bd93b54bf5a39c7ab2127a895af1cc0691d7e3dff";

/**
 * The deposit address of `key`: the CREATE2 clone that the factory creates. Computed from the factory's
 * address alone, so no node can substitute another: the implementation is the factory's first contract, and a
 * clone's code is fixed (LibCWIA without arguments, receiving native tokens without a call).
 */
export function depositAddressOf(factory: Address, key: DepositAddressKey): Address {
  const salt = saltOf(key);
  const seed = new Uint8Array(85);
  seed[0] = 0xff;
  seed.set(bytesOf(factory), 1);
  seed.set(salt, 21);
  seed.set(bytesOf(cloneCodeHash(factory)), 53);
  return toAddress(keccak(seed));
}

/** Hash of the code that creates a clone: `initCodeHash` of the factory at this address. */
export function cloneCodeHash(factory: Address): Hex32 {
  const cached = codeHashes.get(factory);
  if (cached !== undefined) return cached;
  const implementation = cloneImplementation(factory);
  const code =
    `6100643d81600a3d39f336602c57343d527f${TOPIC}593da1005b363d3d373d3d3d3d61000280606236393601` +
    `3d73${implementation.slice(2)}5af43d3d93803e606057fd5bf30002`;
  const hash = toHex(keccak(bytesOf(`0x${code}`)));
  codeHashes.set(factory, hash);
  return hash;
}

/** One per configured chain. */
const codeHashes = new Map<Address, Hex32>();

/** keccak256(abi.encode(key)). */
function saltOf({ id, depositor, recovery, strict }: DepositAddressKey): Uint8Array {
  // A static tuple has no type hash: its first field takes the word where the writer expects one.
  const encoded = words
    .start(bytesOf(id))
    .address(depositor)
    .address(recovery)
    .uint8(strict ? 1 : 0);
  return encoded.hash();
}

/** The implementation of a factory's clones: the first contract that it creates, with nonce one. */
export function cloneImplementation(factory: Address): Address {
  return toAddress(keccak(bytesOf(`0xd694${factory.slice(2)}01`)));
}

function toAddress(hash: Uint8Array): Address {
  return toHex(hash.subarray(12));
}
