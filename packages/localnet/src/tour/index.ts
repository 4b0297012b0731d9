export { createBitcoinWallet, type BitcoinWallet } from "./bitcoin-wallet.ts";
export { createHyperliquidWallet, type HyperliquidWallet } from "./hyperliquid-wallet.ts";
export { createSolanaWallet, type SolanaWallet } from "./solana-wallet.ts";
export { familyWallets } from "./family-wallets.ts";
export type { FamilyWallet } from "./family-wallet.ts";
export { hyperliquidDepository, familyChains, familyKey } from "../families/family-plan.ts";
export { depositoryVault, solanaTokensOf } from "./solana-holdings.ts";
export { deployLocalPrograms, planLocalPrograms, type LocalPrograms } from "../families/deploy-programs.ts";
