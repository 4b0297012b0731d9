import { noChainProblems, type ReadChains } from "@causeway/config";
import type { Chain, NonEvmChain } from "@causeway/domain";
import type { ProcessRole } from "./resolve-accounts.ts";
import type { SettlementHub } from "./settlement.ts";

/** @param fixedPrices undefined if prices come from an HTTP source, or if the price file is invalid */
export function chainProblems(
  loaded: ReadChains,
  solverChainName: string | undefined,
  fixedPrices: ReadonlyMap<string, bigint> | undefined,
): readonly string[] {
  const { chains, invalidChains } = loaded;
  if (chains.length + invalidChains.length === 0) return noChainProblems(loaded);
  const problems: string[] = [];
  if (
    solverChainName !== undefined &&
    ![...chains, ...invalidChains].some(({ name }) => name === solverChainName)
  )
    problems.push("SOLVER_CHAIN_NAME must be the name of an enabled chain");
  if (fixedPrices !== undefined) {
    // Currencies that the solver does not hold are priced by their pools.
    const heldCurrencies = [...chains, ...loaded.nonEvmChains].flatMap((chain) =>
      [chain.native, ...chain.tokens].filter(({ supportsBridging }) => supportsBridging),
    );
    const requiredPriceIds = new Set(heldCurrencies.map(({ priceId }) => priceId));
    for (const priceId of requiredPriceIds)
      if (!fixedPrices.has(priceId))
        problems.push(`price file: price of ${priceId}, used by a currency, is missing`);
  }
  return problems;
}

export function requiredChainProblems(required: readonly string[], loaded: ReadChains): readonly string[] {
  const names = [...loaded.chains, ...loaded.nonEvmChains, ...loaded.invalidChains].map(({ name }) => name);
  return required
    .filter((name) => !names.includes(name))
    .map((name) => `READINESS_CHAINS: ${name} is not an enabled chain`);
}

export function hubProblems(
  { hub }: SettlementHub,
  loaded: Pick<ReadChains, "chains" | "nonEvmChains">,
): readonly string[] {
  const unmappedChains =
    hub.genericMappingAddress === undefined ? chainsWithoutDepositIds(loaded.nonEvmChains) : [];
  const hubChain = loaded.chains.find(({ id }) => id === hub.chainId);
  return [
    ...unmappedChains.map((name) => `hub.genericMappingAddress is required because chain ${name} is enabled`),
    ...(hubChain === undefined
      ? []
      : [
          `hub and enabled chain ${hubChain.name} share chainId ${hubChain.id}, so both would allocate nonces of the solver's account; use a separate chain for the hub, or disable ${hubChain.name}`,
        ]),
  ];
}

/**
 * Chains whose transfers carry no order id: oracles learn only from the hub which order a transfer belongs
 * to.
 */
function chainsWithoutDepositIds(chains: readonly NonEvmChain[]): readonly string[] {
  return chains.flatMap(({ needsNonceMappings, name }) => (needsNonceMappings === true ? [name] : []));
}

/**
 * Warnings for a deployment without oracles, about chains whose transfers carry no order id: the hub must
 * learn their orders within an hour. Deposits on other chains can still be settled once oracles are set.
 */
export function neverSettledWarnings(chains: readonly NonEvmChain[]): readonly string[] {
  return chainsWithoutDepositIds(chains).map(
    (name) => `chain ${name}: deposits are never settled because ORACLE_URLS is not set`,
  );
}

export function depositAddressWarnings(chains: readonly Chain[], role: ProcessRole): readonly string[] {
  const missingSetting =
    role === "api" ? "DEPOSIT_ADDRESS_OPERATOR_ADDRESS" : "DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY";
  return chains.flatMap(({ name, contracts }) =>
    contracts.depositAddressFactory === undefined
      ? []
      : [
          `chain ${name}: no deposit addresses are issued, and funds at issued ones are not moved, because ${missingSetting} is not set`,
        ],
  );
}
