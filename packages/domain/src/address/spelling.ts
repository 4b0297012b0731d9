import { base58 } from "@scure/base";
import type { VmType } from "../chain/attestation-chain.ts";
import type { ChainProfile } from "../chain/chain.ts";
import { RAIL_FAMILIES } from "../chain/rail-chain.ts";
import type { RailChain } from "../chain/rail-chain.ts";
import { ServiceError } from "../errors.ts";
import { bytesOf } from "../hashing/struct-writer.ts";
import type { Hex, TxHash } from "../ids/hex.ts";
import { parseAddress, parseHex32 } from "../ids/hex.ts";
import { decodeBitcoinAddress, encodeBitcoinAddress } from "./bitcoin.ts";
import { decodeAddress, encodeAddress, nativeCurrency, transactionIdBytes } from "./codec.ts";

// Inside the service addresses, currencies and transaction ids of every chain are bytes in hex. This is where
// clients' words become those, and the other way round.

/** What is needed to know of a chain to spell what is on it. */
export type Spelled = Pick<ChainProfile, "vmType"> & Pick<RailChain, "bitcoin">;

/** The family of a configured chain, by the oracle's words. */
export function familyOf({ vmType }: Spelled): VmType {
  return vmType === "evm" ? "ethereum-vm" : RAIL_FAMILIES[vmType];
}

/** A mark that orders use; it is the same on every network. */
const BITCOIN_NATIVE = encodeAddress("bitcoin-vm", nativeCurrency("bitcoin-vm"));

/**
 * An account or currency as clients of that chain write it; bytes that are no address there come back as they
 * are.
 */
export function spellAddress({ vmType, bitcoin }: Spelled, bytes: Hex): string {
  if (vmType === "evm") return bytes;
  if (bitcoin !== undefined && bytes !== BITCOIN_NATIVE)
    return decodeBitcoinAddress(bitcoin.network, bytes) ?? bytes;
  try {
    return decodeAddress(RAIL_FAMILIES[vmType], bytes);
  } catch {
    return bytes;
  }
}

/** A transaction's id as clients of that chain write it: base58 on Solana, bare digits on Bitcoin. */
export function spellTransaction({ vmType }: Spelled, id: TxHash): string {
  if (vmType === "svm") return base58.encode(bytesOf(id));
  return vmType === "bvm" ? id.slice(2) : id;
}

/**
 * The bytes of somebody's account on that chain.
 * @param field of the client's request, named by the error
 * @throws ServiceError INVALID_ADDRESS
 */
export function parseAccount(
  chain: Spelled & Pick<ChainProfile, "displayName">,
  text: string,
  field: string,
): Hex {
  const account = chain.vmType === "evm" ? parseAddress(text) : railAccount(chain, text);
  if (account !== undefined) return account;
  const form = chain.vmType === "evm" ? "a 20-byte address" : `an address on ${chain.displayName}`;
  throw new ServiceError("INVALID_ADDRESS", `${field} must be ${form}`, { field });
}

/** The bytes of a currency on that chain; undefined when it is none. */
export function parseCurrency(chain: Spelled, text: string): Hex | undefined {
  return chain.vmType === "evm" ? parseAddress(text) : bytesIn(familyOf(chain), text);
}

/** The bytes of a transaction's id on that chain; undefined when it is none. */
export function parseTransaction(chain: Spelled, text: string): TxHash | undefined {
  if (chain.vmType === "evm" || chain.vmType === "hypevm") return parseHex32(text);
  // Wallets and explorers of Bitcoin show it bare; with a prefix it is as clear.
  const id = chain.vmType === "bvm" ? text.toLowerCase().replace(/^0x/, "") : text;
  try {
    return transactionIdBytes(familyOf(chain), id);
  } catch {
    return undefined;
  }
}

function railAccount(chain: Spelled, text: string): Hex | undefined {
  // Currencies of the exchange have other lengths than accounts.
  if (chain.vmType === "hypevm") return parseAddress(text);
  if (chain.vmType !== "bvm") return bytesIn(familyOf(chain), text);
  // All upper case is how QR codes hold it.
  const plain = /^(?:BC|TB|BCRT)1[0-9A-Z]+$/.test(text) ? text.toLowerCase() : text;
  return encodeBitcoinAddress(chain.bitcoin?.network ?? "mainnet", plain);
}

function bytesIn(vm: VmType, text: string): Hex | undefined {
  try {
    return encodeAddress(vm, text);
  } catch {
    return undefined;
  }
}

/**
 * Every way in which an account may be written that is not in hex; networks that spell alike stand for each
 * other.
 */
const SPELLINGS: readonly Spelled[] = [
  { vmType: "svm" },
  ...(["mainnet", "testnet", "regtest"] as const).map((network): Spelled => ({
    vmType: "bvm",
    bitcoin: { network },
  })),
];

/**
 * An account or currency of whatever chain it may be on, where nobody says which: hex in lower case, any
 * other spelling as bytes; undefined when it is no family's.
 */
export function parseAnyAccount(text: string): Hex | undefined {
  if (/^0x[0-9a-fA-F]+$/.test(text)) return text.toLowerCase() as Hex;
  for (const spelled of SPELLINGS) {
    const account = railAccount(spelled, text);
    if (account !== undefined) return account;
  }
  return undefined;
}

/** A transaction's id, likewise. */
export function parseAnyTransaction(text: string): TxHash | undefined {
  return (
    parseHex32(text) ?? parseTransaction({ vmType: "svm" }, text) ?? parseTransaction({ vmType: "bvm" }, text)
  );
}
