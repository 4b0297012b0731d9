import type { Address, Chain, Currency } from "@causeway/domain";
import type { ChainCurrency, ChainsAnswer, Erc20Currency, SolverCurrency, WireChain } from "@causeway/wire";
import type { ChainDirectory, ConnectedChain } from "../ports/chains.ts";

/** Stands for a contract that this system does not have. */
const NO_CONTRACT: Address = "0x0000000000000000000000000000000000000000";

interface Services {
  readonly chains: ChainDirectory;
  readonly solverAddress: Address;
}

/** Every chain of this instance, as it is configured and as it is doing now. */
export function listChains({ chains, solverAddress }: Services): ChainsAnswer {
  return { chains: chains.all.map(({ chain, pulse }) => toWireChain(chain, pulse.lagging(), solverAddress)) };
}

/** {@link listChains}, giving the very same object again until something in it changes: whoever serialises it can keep the bytes. */
export function createChainList(services: Services): () => ChainsAnswer {
  let known: readonly ChainState[] = [];
  let answer: ChainsAnswer | undefined;
  return () => {
    const now = services.chains.all.map(stateOf);
    if (answer === undefined || !sameStates(known, now)) {
      known = now;
      answer = listChains(services);
    }
    return answer;
  };
}

interface ChainState {
  readonly chain: Chain;
  readonly lagging: boolean;
}

const stateOf = ({ chain, pulse }: ConnectedChain): ChainState => ({ chain, lagging: pulse.lagging() });

const sameStates = (before: readonly ChainState[], now: readonly ChainState[]): boolean =>
  before.length === now.length &&
  now.every(({ chain, lagging }, at) => before[at]?.chain === chain && before[at]?.lagging === lagging);

function toWireChain(chain: Chain, lagging: boolean, solverAddress: Address): WireChain {
  const { contracts, fees } = chain;
  const currencies = [chain.native, ...chain.tokens];
  const router = { erc20Router: contracts.router, approvalProxy: contracts.approvalProxy };
  return {
    id: chain.id,
    name: chain.name,
    displayName: chain.displayName,
    httpRpcUrl: chain.publicRpcUrl,
    wsRpcUrl: chain.publicWsRpcUrl ?? "",
    explorerUrl: chain.explorerUrl,
    explorerName: chain.explorerName,
    // null: every configured explorer uses the paths that clients assume by themselves.
    explorerPaths: null,
    explorerQueryParams: null,
    iconUrl: chain.iconUrl,
    logoUrl: chain.iconUrl === "" ? null : chain.iconUrl,
    brandColor: null,
    statusMessage: statusMessage(chain, lagging),
    depositEnabled: chain.depositEnabled,
    // Where tokens are exchanged any of them is routable, else only what is configured.
    tokenSupport: chain.liquidity === undefined || chain.liquidity.sources.length === 0 ? "Limited" : "All",
    disabled: chain.disabled,
    partialDisableLimit: Number(chain.partialDisableLimit),
    blockProductionLagging: lagging,
    currency: toWireCurrency(chain.native),
    withdrawalFee: fees.withdrawalBps,
    depositFee: fees.depositBps,
    surgeEnabled: chain.surgeEnabled,
    featuredTokens: currencies.filter(({ verified }) => verified).map(toWireCurrency),
    erc20Currencies: chain.tokens.map((token) => toErc20Currency(chain, token)),
    solverCurrencies: currencies.filter(({ supportsBridging }) => supportsBridging).map(toSolverCurrency),
    contracts: {
      multicall3: contracts.multicall3,
      multicaller: contracts.router,
      onlyOwnerMulticaller: NO_CONTRACT,
      serviceReceiver: contracts.serviceReceiver,
      ...router,
      v3: router,
    },
    vmType: chain.vmType,
    baseChainId: chain.baseChainId ?? null,
    solverAddresses: [solverAddress],
    tags: [...chain.tags],
    protocol: { v2: { chainId: chain.name, depository: contracts.depository, depositoryVault: null } },
  };
}

function statusMessage(chain: Chain, lagging: boolean): string | null {
  if (chain.disabled) return "No new quotes from or to this chain for now.";
  if (lagging) return "This chain makes blocks late; requests take longer.";
  return null;
}

function toSolverCurrency({ id, symbol, name, address, decimals }: Currency): SolverCurrency {
  return { id, symbol, name, address, decimals };
}

function toWireCurrency(currency: Currency): ChainCurrency {
  return {
    ...toSolverCurrency(currency),
    supportsBridging: currency.supportsBridging,
    metadata: { logoURI: currency.logoUri ?? "", verified: currency.verified },
  };
}

function toErc20Currency(chain: Chain, token: Currency): Erc20Currency {
  return {
    ...toSolverCurrency(token),
    supportsBridging: token.supportsBridging,
    supportsPermit: token.supportsPermit,
    withdrawalFee: chain.fees.withdrawalBps,
    depositFee: chain.fees.depositBps,
    surgeEnabled: chain.surgeEnabled,
    metadata: { logoURI: token.logoUri ?? "", verified: token.verified },
  };
}
