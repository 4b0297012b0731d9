import { HDKey } from "viem/accounts";
import { p2wpkh } from "@scure/btc-signer";
import type { BitcoinNetwork, Hex, Hex32 } from "@causeway/domain";
import { addressBytesOfScript, hexOf } from "@causeway/families/bitcoin";

/** Keys of deposit addresses, one per order, derived from one extended key (BIP 32). */
export interface DepositKeys {
  /** The witness program of an order's address (P2WPKH), hex. */
  scriptOf(orderId: Hex32): string;
  /** The same address as canonical bytes. */
  addressOf(orderId: Hex32): Hex;
}

interface Versions {
  readonly public: number;
  readonly private: number;
}

/** Version bytes of a network's extended keys: those of BIP 32, and those of SLIP 132 for P2WPKH. */
const MAIN: readonly Versions[] = [
  { public: 0x0488b21e, private: 0x0488ade4 },
  { public: 0x04b24746, private: 0x04b2430c },
];
const TEST: readonly Versions[] = [
  { public: 0x043587cf, private: 0x04358394 },
  { public: 0x045f1cf6, private: 0x045f18bc },
];

/**
 * Reads an extended public key (xpub, zpub; tpub, vpub on test networks).
 * @throws RangeError for a key of another network, a private key, or anything else
 */
export function depositKeys(network: BitcoinNetwork, extendedKey: string): DepositKeys {
  const root = extendedKeyOf(network, extendedKey, "DEPOSIT_ADDRESS_BITCOIN_XPUB");
  if (root.privateKey !== null)
    throw new RangeError("DEPOSIT_ADDRESS_BITCOIN_XPUB must be an extended public key, got a private one");
  const scriptOf = (orderId: Hex32): string => scriptOfNode(nodeOf(root, orderId));
  return {
    scriptOf,
    addressOf: (orderId) => {
      const address = addressBytesOfScript(scriptOf(orderId));
      if (address === undefined) throw new RangeError("invariant violated: P2WPKH script has no address");
      return address;
    },
  };
}

/**
 * Reads the extended private key that belongs to an extended public key.
 * @returns the private key of an order's address
 * @throws RangeError; the message never contains the key
 */
export function depositPrivateKeys(
  network: BitcoinNetwork,
  extendedKey: string,
  publicKey: string,
): (orderId: Hex32) => Uint8Array {
  const root = extendedKeyOf(network, extendedKey, "DEPOSIT_ADDRESS_BITCOIN_XPRV");
  const publicRoot = extendedKeyOf(network, publicKey, "DEPOSIT_ADDRESS_BITCOIN_XPUB");
  if (root.privateKey === null || root.publicKey === null || publicRoot.publicKey === null)
    throw new RangeError("DEPOSIT_ADDRESS_BITCOIN_XPRV must be an extended private key, got a public one");
  const isSame =
    hexOf(root.publicKey) === hexOf(publicRoot.publicKey) &&
    hexOf(root.chainCode ?? new Uint8Array()) === hexOf(publicRoot.chainCode ?? new Uint8Array());
  if (!isSame)
    throw new RangeError(
      "DEPOSIT_ADDRESS_BITCOIN_XPRV must be the private key of DEPOSIT_ADDRESS_BITCOIN_XPUB",
    );
  return (orderId) => nodeOf(root, orderId).privateKey ?? new Uint8Array();
}

/**
 * The path of an order's key below the extended key: the first 124 bits of its id as four non-hardened
 * indexes of 31 bits. Wallets that derive by path can therefore recover the key from the order's id alone.
 */
export function depositPath(orderId: Hex32): readonly number[] {
  const bits = BigInt(orderId.slice(0, 2 + 31));
  return [93n, 62n, 31n, 0n].map((shift) => Number((bits >> shift) & 0x7fffffffn));
}

/** The witness program of the key at a path below an extended key, hex. */
export function scriptAt(network: BitcoinNetwork, extendedKey: string, path: readonly number[]): string {
  return scriptOfNode(derivePath(extendedKeyOf(network, extendedKey, "extended key"), path));
}

function nodeOf(root: HDKey, orderId: Hex32): HDKey {
  return derivePath(root, depositPath(orderId));
}

function derivePath(root: HDKey, path: readonly number[]): HDKey {
  return path.reduce((node, index) => node.deriveChild(index), root);
}

function scriptOfNode({ publicKey }: HDKey): string {
  if (publicKey === null) throw new RangeError("invariant violated: derived key has no public key");
  return hexOf(p2wpkh(publicKey).script);
}

function extendedKeyOf(network: BitcoinNetwork, text: string, name: string): HDKey {
  for (const versions of network === "mainnet" ? MAIN : TEST)
    try {
      return HDKey.fromExtendedKey(text, versions);
    } catch {
      // The next format, if any.
    }
  const formats = network === "mainnet" ? "xpub, xprv, zpub or zprv" : "tpub, tprv, vpub or vprv";
  throw new RangeError(`${name} must be an extended key of ${network} (${formats})`);
}
