import type { FamilyId } from "@causeway/domain";
import { bitcoin } from "./families/bitcoin.ts";
import { evm } from "./families/evm.ts";
import { hyperliquid } from "./families/hyperliquid.ts";
import { lighter } from "./families/lighter.ts";
import { solana } from "./families/solana.ts";
import { tron } from "./families/tron.ts";
import type { FamilyEntry } from "./family-entry.ts";

export const families: { readonly [F in FamilyId]: FamilyEntry<F> } = {
  evm,
  solana,
  bitcoin,
  hyperliquid,
  lighter,
  tron,
};
