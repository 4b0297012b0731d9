import type { NonEvmOptions } from "@causeway/chains";
import type { NonEvmUsers } from "./non-evm-users.port.ts";

/** The user's side of a chain, until it is closed. */
export interface OwnedNonEvmUsers extends NonEvmUsers {
  close(): Promise<void>;
}

type Needs = Pick<NonEvmOptions, "chain" | "attestation" | "now">;

/**
 * Connects to the user's side of a non-EVM chain and loads the libraries of its family only then. Undefined
 * if its settings are missing: nothing is quoted from it.
 */
export async function createNonEvmUsers(needs: Needs): Promise<OwnedNonEvmUsers | undefined> {
  switch (needs.chain.vmType) {
    case "svm":
      return await solanaUsers(needs);
    case "bvm":
      return await bitcoinUsers(needs);
    case "hypevm":
      return await exchangeUsers(needs);
    default:
      return needs.chain.vmType satisfies never;
  }
}

async function solanaUsers({ chain }: Needs): Promise<OwnedNonEvmUsers> {
  const { createSolanaUsers } = await import("@causeway/chains/solana");
  return await createSolanaUsers({ rpcUrl: chain.rpcUrl, depository: chain.depository });
}

/** Only an explorer knows the unspent outputs of an address. */
async function bitcoinUsers({ chain, attestation, now }: Needs): Promise<OwnedNonEvmUsers | undefined> {
  const esploraUrl = attestation.bitcoin?.esploraUrl;
  if (chain.bitcoin === undefined || esploraUrl === undefined) return undefined;
  const { createBitcoinUsers } = await import("@causeway/chains/bitcoin");
  const { network } = chain.bitcoin;
  const users = createBitcoinUsers({ esploraUrl, network, depository: chain.depository, now });
  return {
    balance: users.balance,
    deposit: async (payment) => {
      const made = await users.deposit(payment);
      // Wallets of existing clients read hex.
      const psbt = made.psbt === undefined ? undefined : Buffer.from(made.psbt, "base64").toString("hex");
      return { ...made, psbt };
    },
    close: users.close,
  };
}

async function exchangeUsers({ chain, attestation }: Needs): Promise<OwnedNonEvmUsers | undefined> {
  if (chain.exchange === undefined) return undefined;
  const { createExchangeUsers } = await import("@causeway/chains/hyperliquid");
  const { profile, usdcTokenId } = chain.exchange;
  const weightPerMinute = attestation.hyperliquid?.weightPerMinute;
  return createExchangeUsers({ apiUrl: chain.rpcUrl, profile, usdcTokenId, weightPerMinute });
}
