// Generated from packages/domain/src/chain/family.ts by scripts/family-lists.ts; do not edit.

export { evm } from "./evm/chain-entry.ts";
export { solana } from "./solana/chain-entry.ts";
export { bitcoin } from "./bitcoin/chain-entry.ts";
export { hyperliquid } from "./hyperliquid/chain-entry.ts";
export { lighter } from "./lighter/chain-entry.ts";
export { tron } from "./tron/chain-entry.ts";
