export {
  associatedTokenAccount,
  createDepository,
  executeInstruction,
  initializeInstruction,
  LOCAL_DEPOSIT_ADDRESSES,
  LOCAL_DEPOSITORY,
  programDataAddress,
  signatureCheckInstruction,
  type LocalDepository,
} from "./depository.ts";
export type { StoredAccount } from "./account-history.ts";
export type { RpcCall, InjectedFault } from "./rpc-server.ts";
export { depositAddressProgram, depositoryProgram, forwarderProgram, poolProgram } from "./programs.ts";
export { startJupiter, type JupiterOptions, type RunningJupiter } from "./jupiter.ts";
export { createPools, JUPITER_PROGRAM, type LocalPools } from "./pools.ts";
export { startSolana, type RunningSolana, type SolanaControls, type SolanaOptions } from "./start-solana.ts";
export {
  createMint,
  createTokenAccountInstruction,
  mintTo,
  type LocalMint,
  type MintRequest,
} from "./tokens.ts";
export {
  askNode,
  sendInstructions,
  signedTransaction,
  solanaKey,
  type PlainInstruction,
  type SolanaKey,
} from "./wallet.ts";
