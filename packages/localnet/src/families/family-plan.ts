import { localPrivateKey } from "@causeway/config";
import { hexToBytes, type Hex } from "viem";
import { HDKey } from "viem/accounts";
import { localAccount } from "../accounts.ts";

/** Ports of the nodes of chains without account nonces. */
export interface FamilyPorts {
  readonly solana: number;
  readonly bitcoin: number;
  readonly hyperliquid: number;
}

/** URLs of the running nodes. */
export interface FamilyUrls {
  readonly solana: string;
  /** URL of the swap aggregator on Solana. */
  readonly solanaSwaps: string;
  /** URL of the Bitcoin node, with user and password. */
  readonly bitcoin: string;
  /** URL of the Bitcoin explorer. */
  readonly esplora: string;
  readonly hyperliquid: string;
}

/** The solver's accounts, in the format of each chain. */
export interface FamilyAccounts {
  readonly solana: string;
  readonly bitcoin: string;
}

/** Names of these chains in `configs/chains.local.json`. */
export const familyChains = {
  solana: "local-solana",
  bitcoin: "local-bitcoin",
  hyperliquid: "exchange",
} as const;

/**
 * These roles have the same private keys on Solana (as seeds) and Bitcoin as on other chains.
 */
export const familyKey = (role: "solver" | "allocator" | "owner" | "deployer" | "user", index = 0): Hex =>
  localPrivateKey(role, index);

/** Deposit addresses on Bitcoin derive from this key, in the format of test networks. */
const depositKeys = HDKey.fromMasterSeed(hexToBytes(localPrivateKey("depositAddressOperator", 0)), {
  public: 0x043587cf,
  private: 0x04358394,
});

/** The variables that `configs/chains.local.json` requires. */
export function familyNodeEnvironment(urls: FamilyUrls): Record<string, string> {
  return {
    LOCAL_SOLANA_RPC_URL: urls.solana,
    LOCAL_SOLANA_SWAPS_URL: urls.solanaSwaps,
    LOCAL_BITCOIN_RPC_URL: urls.bitcoin,
    LOCAL_BITCOIN_ESPLORA_URL: urls.esplora,
    LOCAL_EXCHANGE_URL: urls.hyperliquid,
  };
}

/** The solver's keys on these chains, for workers. */
export function familySolverKeys(): Record<string, string> {
  return {
    SOLVER_SOLANA_KEY: familyKey("solver"),
    SOLVER_BITCOIN_KEY: familyKey("solver"),
    DEPOSIT_ADDRESS_BITCOIN_XPRV: depositKeys.privateExtendedKey,
  };
}

/** The solver's accounts on these chains, for APIs. */
export function familySolverAddresses({ solana, bitcoin }: FamilyAccounts): Record<string, string> {
  return {
    SOLVER_SOLANA_ADDRESS: solana,
    SOLVER_BITCOIN_ADDRESS: bitcoin,
    DEPOSIT_ADDRESS_BITCOIN_XPUB: depositKeys.publicExtendedKey,
  };
}

/** Receives deposits on Hyperliquid, as configured in the chain file. */
export const hyperliquidDepository = localAccount("allocator").address;
