import type { BitcoinNetwork } from "@causeway/domain";
import type { BitcoinFacts } from "./facts.ts";

/** When a block counts as irreversible. Pure. */

export type Finality =
  | { readonly kind: "final" }
  /** A description of what is missing, and the nominal time until it is reached. */
  | { readonly kind: "notFinal"; readonly reason: string; readonly retryAfterSeconds: number };

/** The genesis block of each network: a node with a different one serves another chain. */
export const FIRST_BLOCKS: Readonly<Record<BitcoinNetwork, string>> = {
  mainnet: "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",
  testnet: "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
  testnet4: "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043",
  signet: "00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6",
  regtest: "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206",
};

/** @param confirmations including the transaction's own block; less than 1: its block is not in the chain */
export function finalityOf(
  confirmations: number,
  facts: Pick<BitcoinFacts, "confirmations" | "blockTimeSeconds">,
): Finality {
  const missing = facts.confirmations - Math.max(0, confirmations);
  if (missing <= 0) return { kind: "final" };
  return {
    kind: "notFinal",
    reason:
      confirmations < 1
        ? "transaction's block is not in the chain"
        : `transaction has ${confirmations} of ${facts.confirmations} confirmations`,
    retryAfterSeconds: Math.max(1, Math.ceil(missing * facts.blockTimeSeconds)),
  };
}
