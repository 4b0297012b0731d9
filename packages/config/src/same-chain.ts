import type { AttestationChain } from "@causeway/domain";

/** Two entries of one chain would turn each of its deposits into two. */

/**
 * A fact that no two chains share, and how to tell the entries apart when they are different chains after
 * all.
 */
interface Identity {
  readonly key: string;
  readonly fact: string;
}

/** One sentence for each entry that stands for a chain that an earlier entry stands for. */
export function sameChainProblems(chains: readonly AttestationChain[]): readonly string[] {
  const first = new Map<string, string>();
  return chains.flatMap((chain) => {
    const problems: string[] = [];
    for (const { key, fact } of identitiesOf(chain, chains)) {
      const other = first.get(key);
      if (other !== undefined && other !== chain.name && problems.length === 0)
        problems.push(`${fact} of ${chain.name} is also used by ${other}`);
      first.set(key, other ?? chain.name);
    }
    return problems;
  });
}

function identitiesOf(chain: AttestationChain, all: readonly AttestationChain[]): readonly Identity[] {
  const { vmType, evm, tron, bitcoin, hyperliquid, lighter, solana } = chain;
  const identity = (name: string, value: string | number | bigint): Identity => ({
    key: `${name} ${value}`,
    fact: `${name} ${value}`,
  });
  const { chainId } = evm ?? tron ?? {};
  // Contracts of EVM chains often have one address on all of them; their chain ids tell them apart.
  if (chainId !== undefined) return [identity("chain id", chainId)];
  const networks = [
    ...(bitcoin === undefined ? [] : [identity("bitcoinNetwork", bitcoin.network)]),
    ...(hyperliquid === undefined ? [] : [identity("exchangeNetwork", hyperliquid.network)]),
    ...(lighter === undefined ? [] : [identity("exchangeChainId", lighter.exchangeChainId)]),
    ...(solana?.genesisHash === undefined ? [] : [identity("genesisHash", solana.genesisHash)]),
  ];
  // A program may be deployed under one address on two clusters, if both name their cluster.
  const areIdentified =
    vmType === "solana-vm" &&
    all.every((one) => one.vmType !== vmType || one.solana?.genesisHash !== undefined);
  if (areIdentified) return networks;
  const depositories = [chain.depository, ...chain.additionalDepositories].filter(
    (address) => address !== undefined,
  );
  return [...networks, ...depositories.map((address) => identity(`${vmType} depository`, address))];
}
