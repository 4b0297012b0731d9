import { signatureToHex } from "@causeway/attest";
import type { Signer } from "@causeway/attest";
import { createRpcTransport, viemTransport } from "@causeway/chains";
import { allocatorAbi, callRequestTypes, depositoryAbi, depositoryDomain } from "@causeway/contracts";
import type { Address, Chain } from "@causeway/domain";
import { createPublicClient, encodeFunctionData, hashTypedData } from "viem";
import type { HubChain } from "../hub.port.ts";
import type { Payouts } from "./withdrawals.port.ts";
import { orAway } from "./node-unavailable.adapter.ts";
import { sendCall } from "./send-call.adapter.ts";

/**
 * The allocator's account on the hub and on one chain. Nothing else uses its key, so the nodes' nonces are
 * authoritative.
 */
export function connectPayouts(
  hub: HubChain,
  chain: Chain,
  allocator: Signer,
): Payouts & { close(): Promise<void> } {
  const { allocatorAddress, rpcUrl, chainId: hubChainId } = hub.hub;
  if (allocatorAddress === undefined) throw new Error("hub.allocatorAddress is not configured");
  const hubTransport = createRpcTransport({ url: rpcUrl, connections: 1 });
  const chainTransport = createRpcTransport({ url: chain.rpcUrl, connections: 1 });
  const hubClient = createPublicClient({ transport: viemTransport(hubTransport), cacheTime: 0 });
  const client = createPublicClient({ transport: viemTransport(chainTransport), cacheTime: 0 });
  const { depository } = chain.contracts;
  const registry = { abi: allocatorAbi, address: allocatorAddress } as const;
  const onHub = async <T>(act: () => Promise<T>): Promise<T> => await orAway(hub.hub.name, act);
  const onChain = async <T>(act: () => Promise<T>): Promise<T> => await orAway(chain.name, act);
  return {
    async standing() {
      const [mayRecord, depositoryAllocator] = await Promise.all([
        onHub(async () => {
          const role = await hubClient.readContract({ ...registry, functionName: "ALLOCATOR_ROLE" });
          return await hubClient.readContract({
            ...registry,
            functionName: "hasAnyRole",
            args: [allocator.address, role],
          });
        }),
        onChain(() =>
          client.readContract({ abi: depositoryAbi, address: depository, functionName: "allocator" }),
        ),
      ]);
      return {
        account: allocator.address,
        mayRecord,
        depositoryAllocator: depositoryAllocator.toLowerCase() as Address,
      };
    },
    recorded: (address, at) => onHub(() => hub.recordedWithdrawal(address, at)),
    async record(address, withdrawalId, { receiver, ...request }, oracleSignature) {
      const data = encodeFunctionData({
        abi: allocatorAbi,
        functionName: "record",
        args: [address, withdrawalId, { ...request, receiver }, oracleSignature],
      });
      return await onHub(() =>
        sendCall(hubClient, hubChainId, allocator, {
          what: "recording the payload",
          to: allocatorAddress,
          data,
          abi: allocatorAbi,
        }),
      );
    },
    async sign(request) {
      const digest = hashTypedData({
        domain: depositoryDomain(chain.id, depository),
        types: callRequestTypes,
        primaryType: "CallRequest",
        message: request,
      });
      return signatureToHex(await allocator.signDigest(digest));
    },
    executed: (withdrawalId) =>
      onChain(() =>
        client.readContract({
          abi: depositoryAbi,
          address: depository,
          functionName: "callRequests",
          args: [withdrawalId],
        }),
      ),
    async chainTime() {
      return await onChain(async () => (await client.getBlock({ blockTag: "latest" })).timestamp);
    },
    async execute(request, signature) {
      const data = encodeFunctionData({
        abi: depositoryAbi,
        functionName: "execute",
        args: [request, signature],
      });
      return await onChain(() =>
        sendCall(client, chain.id, allocator, {
          what: "the payout",
          to: depository,
          data,
          abi: depositoryAbi,
        }),
      );
    },
    async close() {
      await Promise.all([hubTransport.close(), chainTransport.close()]);
    },
  };
}
