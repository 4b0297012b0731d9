import { base58 } from "@scure/base";
import {
  API_FAMILIES,
  bytesOf,
  NON_EVM_FAMILIES,
  parseAddress,
  parseHex32,
  ServiceError,
  type ChainProfile,
  type Hex,
  type NonEvmChain,
  type TxHash,
  type VmType,
} from "@causeway/domain";
import { decodeBitcoinAddress, encodeBitcoinAddress, NATIVE_BYTES } from "./bitcoin/address-codec.ts";
import { decodeAddress, encodeAddress, transactionIdBytes } from "./address.ts";

// Inside the service, addresses, currencies and transaction ids of every chain are bytes in hex. This module
// converts between them and the formats that clients use.

/** The facts of a chain on which formatting depends. */
export type ChainFormat = Pick<ChainProfile, "vmType"> & Pick<NonEvmChain, "bitcoin">;

/** The oracle's name for the family of a configured chain. */
export function familyOf({ vmType }: ChainFormat): VmType {
  return API_FAMILIES[vmType];
}

/**
 * Formats an account or currency as clients of that chain write it; bytes that are not an address there are
 * returned unchanged.
 */
export function formatAddress({ vmType, bitcoin }: ChainFormat, bytes: Hex): string {
  if (vmType === "evm") return bytes;
  if (bitcoin !== undefined && bytes !== NATIVE_BYTES)
    return decodeBitcoinAddress(bitcoin.network, bytes) ?? bytes;
  try {
    return decodeAddress(NON_EVM_FAMILIES[vmType], bytes);
  } catch {
    return bytes;
  }
}

/**
 * Formats a transaction id as clients of that chain write it: base58 on Solana, digits without prefix on
 * Bitcoin.
 */
export function formatTransactionId({ vmType }: ChainFormat, id: TxHash): string {
  if (vmType === "svm") return base58.encode(bytesOf(id));
  return vmType === "bvm" ? id.slice(2) : id;
}

/**
 * Parses an account on that chain.
 * @param field name of the request's field, for the error
 * @throws ServiceError INVALID_ADDRESS
 */
export function parseAccount(
  chain: ChainFormat & Pick<ChainProfile, "displayName">,
  text: string,
  field: string,
): Hex {
  const account = chain.vmType === "evm" ? parseAddress(text) : nonEvmAccount(chain, text);
  if (account !== undefined) return account;
  const form = chain.vmType === "evm" ? "a 20-byte address" : `an address on ${chain.displayName}`;
  throw new ServiceError("INVALID_ADDRESS", `${field} must be ${form}`, { field });
}

/** Parses a currency on that chain; undefined if it is invalid. */
export function parseCurrency(chain: ChainFormat, text: string): Hex | undefined {
  return chain.vmType === "evm" ? parseAddress(text) : bytesIn(familyOf(chain), text);
}

/** What a currency of that chain is, for errors: it follows "a". */
export function currencyForm(chain: ChainFormat & Pick<ChainProfile, "displayName">): string {
  return chain.vmType === "evm" ? "20-byte address" : `currency of ${chain.displayName}`;
}

/** Parses a transaction id on that chain; undefined if it is invalid. */
export function parseTransaction(chain: ChainFormat, text: string): TxHash | undefined {
  if (chain.vmType === "evm" || chain.vmType === "hypevm") return parseHex32(text);
  // Wallets and explorers of Bitcoin omit the prefix 0x; accept ids with it too.
  const id = chain.vmType === "bvm" ? text.toLowerCase().replace(/^0x/, "") : text;
  try {
    return transactionIdBytes(familyOf(chain), id);
  } catch {
    return undefined;
  }
}

function nonEvmAccount(chain: ChainFormat, text: string): Hex | undefined {
  // Currencies of Hyperliquid have other lengths than accounts.
  if (chain.vmType === "hypevm") return parseAddress(text);
  if (chain.vmType !== "bvm") return bytesIn(familyOf(chain), text);
  // QR codes contain the address in upper case.
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

/** All account formats other than hex; networks with the same format are listed once. */
const CHAIN_FORMATS: readonly ChainFormat[] = [
  { vmType: "svm" },
  ...(["mainnet", "testnet", "regtest"] as const).map((network): ChainFormat => ({
    vmType: "bvm",
    bitcoin: { network },
  })),
];

/**
 * Parses an account or currency of an unknown chain: hex in lower case, other formats as bytes; undefined if
 * no family has this format.
 */
export function parseAnyAccount(text: string): Hex | undefined {
  if (/^0x[0-9a-fA-F]+$/.test(text)) return text.toLowerCase() as Hex;
  for (const format of CHAIN_FORMATS) {
    const account = nonEvmAccount(format, text);
    if (account !== undefined) return account;
  }
  return undefined;
}

/** Parses a transaction id of an unknown chain. */
export function parseAnyTransaction(text: string): TxHash | undefined {
  return (
    parseHex32(text) ?? parseTransaction({ vmType: "svm" }, text) ?? parseTransaction({ vmType: "bvm" }, text)
  );
}
