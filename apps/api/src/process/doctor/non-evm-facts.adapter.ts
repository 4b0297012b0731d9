import { connectNonEvm, RpcFault, withOneEndpoint, type OpenConnection } from "@causeway/chains";
import type { NonEvmChainConfig } from "@causeway/config";
import type { Hex } from "@causeway/domain";
import type { OwnAccounts } from "../../config/own-accounts.ts";
import type { NonEvmEndpointFacts, NonEvmFacts } from "./non-evm-check.ts";

/** Reads the facts that one endpoint of a chain serves. @throws RpcFault if it does not answer */
export async function readNonEvmEndpoint(
  config: NonEvmChainConfig,
  endpointIndex: number,
  accounts: OwnAccounts,
): Promise<NonEvmEndpointFacts> {
  return await throughEndpoint(
    config,
    endpointIndex,
    accounts,
    async (connection): Promise<NonEvmEndpointFacts> => {
      try {
        return { kind: "right", head: await connection.head?.() };
      } catch (error) {
        if (!(error instanceof RpcFault) || error.kind !== "wrongChain") throw error;
        return { kind: "wrongNetwork", reason: error.reason };
      }
    },
  );
}

/** Reads the solver's native balance, and the program of deposit addresses. @throws RpcFault */
export async function readNonEvmAccount(
  config: NonEvmChainConfig,
  endpointIndex: number,
  accounts: OwnAccounts,
): Promise<NonEvmFacts> {
  const { address } = config.chain.native;
  return await throughEndpoint(config, endpointIndex, accounts, async (connection) => {
    const [balances, addressProblem] = await Promise.all([
      connection.balances([address]),
      connection.depositAddresses?.problem?.(),
    ]);
    return { nativeBalance: balances.get(address) ?? 0n, addressProblem };
  });
}

async function throughEndpoint<T>(
  { chain, attestation }: NonEvmChainConfig,
  endpointIndex: number,
  accounts: OwnAccounts,
  read: (connection: OpenConnection) => Promise<T>,
): Promise<T> {
  const solver: Hex | undefined = {
    svm: accounts.solana,
    bvm: accounts.bitcoin,
    hypevm: accounts.solver,
  }[chain.vmType];
  if (solver === undefined) throw new Error(`no solver account is configured for ${chain.name}`);
  const options = {
    chain,
    attestation,
    solver,
    now: () => Date.now(),
    // The read throws every fault that matters here.
    onFault: () => undefined,
  };
  const connection = await connectNonEvm(withOneEndpoint(options, endpointIndex));
  try {
    return await read(connection);
  } finally {
    await connection.close();
  }
}
