import {
  createChainReader,
  createChainWriter,
  quantityOf,
  type FeePolicy,
  type FinalBlockReads,
  type RpcTransport,
} from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { CalledChain } from "./chains.port.ts";

/** None of the service's contracts is on a chain that it only calls. */
const NO_CONTRACTS = {
  depository: NATIVE_CURRENCY,
  router: NATIVE_CURRENCY,
  approvalProxy: NATIVE_CURRENCY,
  serviceReceiver: NATIVE_CURRENCY,
  multicall3: NATIVE_CURRENCY,
};

/** Connects a chain on which the service calls contracts. @throws RpcFault from every method */
export function calledChain(
  { id, name, fees }: { readonly id: number; readonly name: string; readonly fees: FeePolicy },
  transport: RpcTransport,
  finalBlocks: FinalBlockReads,
): CalledChain {
  const chain = { id, name, fees, contracts: NO_CONTRACTS, tokens: [] };
  const quantity = async (method: string, params: readonly unknown[]): Promise<bigint> =>
    quantityOf(await transport.request(method, params), method);
  return {
    chain,
    connection: { reader: createChainReader(chain, transport), writer: createChainWriter(transport) },
    async final(account) {
      const found = await finalBlocks.block();
      if (found.kind !== "final") return undefined;
      const { number, hash } = found.value;
      const pin = { blockHash: hash, requireCanonical: true };
      const nonce = Number(await quantity("eth_getTransactionCount", [account, pin]));
      await finalBlocks.confirm(found.value);
      return { number, nonce };
    },
    nativeBalance: async (account) => await quantity("eth_getBalance", [account, "latest"]),
  };
}
