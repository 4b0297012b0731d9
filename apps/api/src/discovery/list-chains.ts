import type { Address, Chain, Currency, Hex, NonEvmChain } from "@causeway/domain";
import { formatAddress } from "@causeway/families";
import type { ChainCurrency, ChainsAnswer, Erc20Currency, SolverCurrency, WireChain } from "@causeway/wire";
import type { ChainDirectory, ConnectedChain, ConnectedNonEvmChain } from "../chains/chains.port.ts";

/** Placeholder for contracts that this system does not have but clients expect. */
const NO_CONTRACT: Address = "0x0000000000000000000000000000000000000000";

interface Services {
  readonly chains: ChainDirectory;
  readonly solverAddress: Address;
}

/** Every chain of this instance with its configuration and current state. */
export function listChains({ chains, solverAddress }: Services): ChainsAnswer {
  return {
    chains: [
      ...chains.evmChains.map(({ chain, pulse }) => toWireChain(chain, pulse.isLagging(), solverAddress)),
      ...chains.nonEvmChains.map(({ chain, connection, pulse }) =>
        toWireNonEvm(chain, pulse.isLagging(), connection.solver),
      ),
    ],
  };
}

/**
 * Like {@link listChains}, but returns the same object until something changes, so that callers can cache its
 * serialized form.
 */
export function createChainList(services: Services): () => ChainsAnswer {
  let lastStates: readonly ChainState[] = [];
  let answer: ChainsAnswer | undefined;
  return () => {
    const states = [...services.chains.evmChains, ...services.chains.nonEvmChains].map(stateOf);
    if (answer === undefined || !sameStates(lastStates, states)) {
      lastStates = states;
      answer = listChains(services);
    }
    return answer;
  };
}

interface ChainState {
  readonly chain: Chain | NonEvmChain;
  readonly isLagging: boolean;
}

const stateOf = ({ chain, pulse }: ConnectedChain | ConnectedNonEvmChain): ChainState => ({
  chain,
  isLagging: pulse.isLagging(),
});

const sameStates = (before: readonly ChainState[], after: readonly ChainState[]): boolean =>
  before.length === after.length &&
  after.every(
    ({ chain, isLagging }, index) => before[index]?.chain === chain && before[index]?.isLagging === isLagging,
  );

function toWireChain(chain: Chain, isLagging: boolean, solverAddress: Address): WireChain {
  const { contracts } = chain;
  const router = { erc20Router: contracts.router, approvalProxy: contracts.approvalProxy };
  return {
    ...profileOf(chain, isLagging),
    // null: all configured explorers use the clients' default paths.
    explorerPaths: null,
    // With swaps any token can be routed, otherwise only configured ones.
    tokenSupport: chain.liquidity === undefined || chain.liquidity.sources.length === 0 ? "Limited" : "All",
    contracts: {
      multicall3: contracts.multicall3,
      multicaller: contracts.router,
      onlyOwnerMulticaller: NO_CONTRACT,
      serviceReceiver: contracts.serviceReceiver,
      ...router,
      v3: router,
    },
    solverAddresses: [solverAddress],
    protocol: { v2: { chainId: chain.name, depository: contracts.depository, depositoryVault: null } },
  };
}

/** A chain without contracts; solver and depository are in the chain's own format. */
function toWireNonEvm(chain: NonEvmChain, isLagging: boolean, solver: Hex): WireChain {
  const { explorerPaths } = chain;
  return {
    ...profileOf(chain, isLagging),
    explorerPaths: explorerPaths === undefined ? null : pathsOf(explorerPaths),
    tokenSupport: "Limited",
    contracts: {},
    solverAddresses: [formatAddress(chain, solver)],
    protocol: {
      v2: { chainId: chain.name, depository: formatAddress(chain, chain.depository), depositoryVault: null },
    },
    ...(chain.exchange && { exchange: toWireExchange(chain.exchange) }),
  };
}

function toWireExchange({
  publicApiUrl,
  isTestnet,
  profile,
}: NonNullable<NonEvmChain["exchange"]>): NonNullable<WireChain["exchange"]> {
  return { apiUrl: publicApiUrl, isTestnet, signingProfile: profile };
}

function pathsOf({
  transaction,
  address,
  token,
}: NonNullable<NonEvmChain["explorerPaths"]>): NonNullable<WireChain["explorerPaths"]> {
  return {
    ...(transaction !== undefined && { transaction }),
    ...(address !== undefined && { address }),
    ...(token !== undefined && { token }),
  };
}

type Profile = Omit<
  WireChain,
  "contracts" | "solverAddresses" | "protocol" | "explorerPaths" | "tokenSupport" | "exchange"
>;

function profileOf(chain: Chain | NonEvmChain, isLagging: boolean): Profile {
  const { fees } = chain;
  const currencies = [chain.native, ...chain.tokens];
  const listed = (currency: Currency): ChainCurrency => toWireCurrency(chain, currency);
  return {
    id: chain.id,
    name: chain.name,
    displayName: chain.displayName,
    httpRpcUrl: chain.publicRpcUrl,
    wsRpcUrl: chain.publicWsRpcUrl ?? "",
    explorerUrl: chain.explorerUrl,
    explorerName: chain.explorerName,
    explorerQueryParams: null,
    iconUrl: chain.iconUrl,
    logoUrl: chain.iconUrl === "" ? null : chain.iconUrl,
    brandColor: null,
    statusMessage: statusMessage(chain, isLagging),
    depositEnabled: chain.depositEnabled,
    disabled: chain.disabled,
    partialDisableLimit: Number(chain.partialDisableLimit),
    blockProductionLagging: isLagging,
    currency: listed(chain.native),
    withdrawalFee: fees.withdrawalBps,
    depositFee: fees.depositBps,
    surgeEnabled: chain.surgeEnabled,
    featuredTokens: currencies.filter(({ verified }) => verified).map(listed),
    erc20Currencies: chain.tokens.map((token) => toErc20Currency(chain, token)),
    solverCurrencies: currencies
      .filter(({ supportsBridging }) => supportsBridging)
      .map((currency) => toSolverCurrency(chain, currency)),
    vmType: chain.vmType,
    baseChainId: chain.baseChainId ?? null,
    tags: [...chain.tags],
  };
}

function statusMessage(chain: Chain | NonEvmChain, isLagging: boolean): string | null {
  if (chain.disabled) return "No new quotes from or to this chain at the moment.";
  if (isLagging) return "This chain produces blocks late; requests take longer.";
  return null;
}

function toSolverCurrency(
  chain: Chain | NonEvmChain,
  { id, symbol, name, address, decimals }: Currency,
): SolverCurrency {
  return { id, symbol, name, address: formatAddress(chain, address), decimals };
}

function toWireCurrency(chain: Chain | NonEvmChain, currency: Currency): ChainCurrency {
  return {
    ...toSolverCurrency(chain, currency),
    supportsBridging: currency.supportsBridging,
    metadata: { logoURI: currency.logoUri ?? "", verified: currency.verified },
  };
}

function toErc20Currency(chain: Chain | NonEvmChain, token: Currency): Erc20Currency {
  return {
    ...toSolverCurrency(chain, token),
    supportsBridging: token.supportsBridging,
    supportsPermit: token.supportsPermit,
    withdrawalFee: chain.fees.withdrawalBps,
    depositFee: chain.fees.depositBps,
    surgeEnabled: chain.surgeEnabled,
    metadata: { logoURI: token.logoUri ?? "", verified: token.verified },
  };
}
