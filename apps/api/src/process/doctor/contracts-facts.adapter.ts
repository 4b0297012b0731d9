import { checkedTransport, createRpcTransport, viemTransport } from "@causeway/chains";
import { approvalProxyAbi, depositoryAbi, receiverAbi } from "@causeway/contracts";
import type { Address, Chain } from "@causeway/domain";
import {
  AbiDecodingDataSizeTooSmallError,
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  erc20Abi,
  ExecutionRevertedError,
  type PublicClient,
} from "viem";
import type { OwnAccounts } from "../../config/own-accounts.ts";
import { factoryProblem } from "../../deposits/addresses/check-factory.ts";
import type { AccountsFacts } from "./accounts-check.ts";
import type { ContractsFacts } from "./contracts-check.ts";

const DEADLINE_MS = 5_000;

/** Reads calls and balances of one chain at one endpoint. */
export interface ChainReads {
  readonly client: PublicClient;
  hasCode(address: Address): Promise<boolean>;
}

/** Connects to an endpoint. Calls fail with RpcFault of kind `wrongChain` if it serves another chain. */
export function chainReads(
  url: string,
  chainId: number,
): { readonly reads: ChainReads; readonly close: () => Promise<void> } {
  const raw = createRpcTransport({ url, deadlineMs: DEADLINE_MS, connections: 2 });
  const { transport } = checkedTransport(raw, chainId);
  const client = createPublicClient({ transport: viemTransport(transport) });
  return {
    reads: {
      client,
      async hasCode(address) {
        const code = await client.getCode({ address });
        return code !== undefined && code !== "0x";
      },
    },
    close: async () => await raw.close(),
  };
}

/** Errors of viem if a contract reverts, does not exist, or returns something else. */
const CONTRACT_ERRORS = [
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  AbiDecodingDataSizeTooSmallError,
  ExecutionRevertedError,
];

/** Undefined if the contract does not answer such a call; faults of the node are thrown. */
export async function undefinedIfReverted<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const isOfContract =
      error instanceof BaseError &&
      error.walk((cause) => CONTRACT_ERRORS.some((kind) => cause instanceof kind)) !== null;
    if (!isOfContract) throw error;
    return undefined;
  }
}

export const lower = (address: Address | undefined): Address | undefined =>
  address === undefined ? undefined : (address.toLowerCase() as Address);

/** Reads the contracts and tokens of a chain. @throws RpcFault or an error of viem around it */
export async function readContracts(
  { client, hasCode }: ChainReads,
  chain: Chain,
  accounts: OwnAccounts,
): Promise<ContractsFacts> {
  const {
    depository,
    serviceReceiver,
    approvalProxy,
    formerContracts: _,
    formerDepositories: __,
    ...more
  } = chain.contracts;
  const addresses = Object.entries({ depository, serviceReceiver, approvalProxy, ...more });
  const targets = { depository: { abi: depositoryAbi, address: depository } } as const;
  const [contracts, owner, allocator, solver, router, tokens, problem] = await Promise.all([
    Promise.all(
      addresses.map(async ([field, address]) => ({ field, address, hasCode: await hasCode(address) })),
    ),
    undefinedIfReverted(client.readContract({ ...targets.depository, functionName: "owner" })),
    undefinedIfReverted(client.readContract({ ...targets.depository, functionName: "allocator" })),
    undefinedIfReverted(
      client.readContract({ abi: receiverAbi, address: serviceReceiver, functionName: "solver" }),
    ),
    undefinedIfReverted(
      client.readContract({ abi: approvalProxyAbi, address: approvalProxy, functionName: "router" }),
    ),
    Promise.all(
      chain.tokens.map(async ({ symbol, address, decimals: configuredDecimals }) => ({
        symbol,
        address,
        configuredDecimals,
        hasCode: await hasCode(address),
        decimals: await undefinedIfReverted(
          client.readContract({ abi: erc20Abi, address, functionName: "decimals" }),
        ),
      })),
    ),
    factoryProblem(
      {
        signer: { address: accounts.solver },
        executor: accounts.executor && { address: accounts.executor },
        depositAddressOperator: accounts.depositAddressOperator && {
          address: accounts.depositAddressOperator,
        },
      },
      {
        chain,
        connection: {
          reader: {
            ask: async (to, data) => (await undefinedIfReverted(client.call({ to, data })))?.data,
          },
        },
      },
    ),
  ]);
  return {
    contracts,
    depositoryOwner: lower(owner),
    isOwnerContract: owner !== undefined && (await hasCode(owner)),
    depositoryAllocator: lower(allocator),
    receiverSolver: lower(solver),
    proxyRouter: lower(router),
    factoryProblem: problem,
    tokens,
  };
}

/** Reads the balances of the service's accounts. @throws as {@link readContracts} */
export async function readAccounts(
  { client }: ChainReads,
  chain: Chain,
  accounts: OwnAccounts,
): Promise<AccountsFacts> {
  const { solver, executor, depositAddressOperator, formerSolvers } = accounts;
  const checkedAccounts = [
    { role: "solver", address: solver },
    ...(executor === undefined ? [] : [{ role: "executor", address: executor } as const]),
    ...(depositAddressOperator === undefined || chain.contracts.depositAddressFactory === undefined
      ? []
      : [{ role: "deposit address operator", address: depositAddressOperator } as const]),
    ...formerSolvers.map((address) => ({ role: "former solver", address }) as const),
  ] as const;
  const [gasPriceWei, balances, tokens] = await Promise.all([
    client.getGasPrice(),
    Promise.all(
      checkedAccounts.map(async (account) => ({
        ...account,
        nativeWei: await client.getBalance({ address: account.address }),
      })),
    ),
    Promise.all(
      chain.tokens
        .filter(({ supportsBridging }) => supportsBridging)
        .map(async ({ symbol, address, decimals }) => {
          const token = { abi: erc20Abi, address } as const;
          const [balance, allowance] = await Promise.all([
            undefinedIfReverted(client.readContract({ ...token, functionName: "balanceOf", args: [solver] })),
            undefinedIfReverted(
              client.readContract({
                ...token,
                functionName: "allowance",
                args: [solver, chain.contracts.approvalProxy],
              }),
            ),
          ]);
          return { symbol, address, decimals, balance: balance ?? 0n, allowance: allowance ?? 0n };
        }),
    ),
  ]);
  return { gasPriceWei, accounts: balances, tokens };
}
