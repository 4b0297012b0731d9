import { quantityOf, type CalledEndpoints, type FinalBlockReads } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { CalledChain } from "./chains.port.ts";

/** A chain on which the service only calls contracts has none of its own contracts. */
const NO_CONTRACTS = {
  depository: NATIVE_CURRENCY,
  router: NATIVE_CURRENCY,
  approvalProxy: NATIVE_CURRENCY,
  serviceReceiver: NATIVE_CURRENCY,
  multicall3: NATIVE_CURRENCY,
};

/** A chain on which the service calls contracts. @throws RpcFault from every method */
export function calledChain(
  { id, name }: { readonly id: number; readonly name: string },
  { transport, reader, writer }: CalledEndpoints,
  finalBlocks: FinalBlockReads,
): CalledChain {
  const quantity = async (method: string, params: readonly unknown[]): Promise<bigint> =>
    quantityOf(await transport.request(method, params), method);
  return {
    chain: { id, name, contracts: NO_CONTRACTS },
    connection: { reader, writer },
    async final(account) {
      const finalBlock = await finalBlocks.block();
      if (finalBlock.kind !== "final") return undefined;
      const { number, hash } = finalBlock.value;
      const pin = { blockHash: hash, requireCanonical: true };
      const nonce = Number(await quantity("eth_getTransactionCount", [account, pin]));
      await finalBlocks.confirm(finalBlock.value);
      return { number, nonce };
    },
    nativeBalance: async (account) => await quantity("eth_getBalance", [account, "latest"]),
  };
}
