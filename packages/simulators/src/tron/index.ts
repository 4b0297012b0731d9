export {
  RawAnswer,
  startTronNode,
  TRON_MAINNET_CHAIN_ID,
  type RunningTron,
  type TronControls,
  type TronLie,
  type TronNodeOptions,
} from "./tron-node.ts";
export { createTronWallet, TronRefused, type TronSend, type TronWallet } from "./tron-wallet.ts";
export type { SignedTransaction } from "./tron-chain.ts";
