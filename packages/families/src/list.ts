/**
 * The chain families, each under its name. To add a family, add it to the list of names in
 * `domain/src/chain/family.ts`: the compiler then asks for its line here and for its files.
 */
export { evm } from "./evm/chain-entry.ts";
export { solana } from "./solana/chain-entry.ts";
export { bitcoin } from "./bitcoin/chain-entry.ts";
export { hyperliquid } from "./hyperliquid/chain-entry.ts";
export { lighter } from "./lighter/chain-entry.ts";
export { tron } from "./tron/chain-entry.ts";
