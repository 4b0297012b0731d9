import { familyIdOf, type FamilyId } from "@causeway/domain";
import { factsOf, families, type ConfiguredChain, type FactsOf, type FamilyEntry } from "@causeway/families";

/** Finds chains that are configured twice: each of their deposits would count as two. */

/** A fact that identifies a chain, and its name in problems. */
interface Identity {
  readonly key: string;
  readonly fact: string;
}

/** One sentence for each entry that configures the same chain as an earlier entry. */
export function sameChainProblems(chains: readonly ConfiguredChain[]): readonly string[] {
  const firstByIdentity = new Map<string, string>();
  return chains.flatMap((chain) => {
    const problems: string[] = [];
    for (const { key, fact } of identitiesOf(chain, chains)) {
      const earlierChain = firstByIdentity.get(key);
      if (earlierChain !== undefined && earlierChain !== chain.name && problems.length === 0)
        problems.push(`${fact} of ${chain.name} is also used by ${earlierChain}`);
      firstByIdentity.set(key, earlierChain ?? chain.name);
    }
    return problems;
  });
}

function identitiesOf(chain: ConfiguredChain, all: readonly ConfiguredChain[]): readonly Identity[] {
  const { network, isIdentifiedByDepository } = identification(familyIdOf(chain.vmType), chain, all);
  const networks = network === undefined ? [] : [identity(...network)];
  if (!isIdentifiedByDepository) return networks;
  const depositories = [chain.depository, ...chain.additionalDepositories].filter(
    (address) => address !== undefined,
  );
  return [...networks, ...depositories.map((address) => identity(`${chain.vmType} depository`, address))];
}

function identification<F extends FamilyId>(
  id: F,
  chain: ConfiguredChain,
  all: readonly ConfiguredChain[],
): Readonly<{
  network: ReturnType<FamilyEntry<F, FactsOf<F>>["network"]>;
  isIdentifiedByDepository: boolean;
}> {
  const family: FamilyEntry<F, FactsOf<F>> = families[id];
  const facts = factsOf(chain, id);
  return {
    network: facts === undefined ? undefined : family.network(facts),
    isIdentifiedByDepository: family.isIdentifiedByDepository(
      all.map((candidate) => factsOf(candidate, id)).filter((one) => one !== undefined),
    ),
  };
}

function identity(name: string, value: string | number | bigint): Identity {
  return { key: `${name} ${value}`, fact: `${name} ${value}` };
}
