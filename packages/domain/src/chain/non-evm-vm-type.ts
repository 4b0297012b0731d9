/**
 * Kinds of non-EVM chains, which have neither our contracts nor account nonces, as the API names them:
 * Solana, Bitcoin, Hyperliquid.
 */
export type NonEvmVmType = "svm" | "bvm" | "hypevm";
