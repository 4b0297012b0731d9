/**
 * Kinds of chains without our contracts and without account nonces as EVM chains have them, by the words of
 * the wire: Solana, Bitcoin, the perpetuals exchange.
 */
export type RailVm = "svm" | "bvm" | "hypevm";
