import { signTypedData } from "@causeway/attest";
import type { Signer } from "@causeway/attest";
import { connectCalledChain, finalBlockReads, viemTransport } from "@causeway/chains";
import { allocatorAbi, callRequestTypes, depositoryAbi, depositoryDomain } from "@causeway/contracts";
import { evmCallRequestId } from "@causeway/domain";
import type { Address, Chain } from "@causeway/domain";
import { createPublicClient, encodeFunctionData } from "viem";
import { calledChain } from "../../chains/called-chain.adapter.ts";
import type { HubChain } from "../hub.port.ts";
import type { Payouts } from "./withdrawals.port.ts";
import { orUnavailable } from "./node-unavailable.adapter.ts";
import { payCall, type PayCallServices } from "./pay-call.ts";

/** The allocator's account on the hub and on one chain. Nothing else uses its key. */
export function connectPayouts(
  baseServices: PayCallServices,
  hub: HubChain,
  chain: Chain,
  allocator: Signer,
): Payouts & { close(): Promise<void> } {
  const { allocatorAddress, chainId: hubChainId } = hub.hub;
  if (allocatorAddress === undefined) throw new Error("hub.allocatorAddress is not configured");
  const { name, fees, blockTimeSeconds, finalityBlocks } = chain;
  const hubConnection = connectCalledChain({ ...hub.hub, id: hubChainId, fees }, { connections: 1 });
  const chainConnection = connectCalledChain(chain, { connections: 1 });
  const finality = { kind: "depth", blocks: BigInt(finalityBlocks), seconds: 0n } as const;
  const finalBlocks = finalBlockReads(chainConnection.transport, { finality, blockTimeSeconds });
  const lane = calledChain(chain, chainConnection, finalBlocks);
  const hubClient = createPublicClient({ transport: viemTransport(hubConnection.transport), cacheTime: 0 });
  const client = createPublicClient({ transport: viemTransport(chainConnection.transport), cacheTime: 0 });
  const { depository } = chain.contracts;
  const services = { ...baseServices, payoutContracts: [allocatorAddress, depository] };
  const registry = { abi: allocatorAbi, address: allocatorAddress } as const;
  const onHub = async <T>(act: () => Promise<T>): Promise<T> => await orUnavailable(hub.hub.name, act);
  const onChain = async <T>(act: () => Promise<T>): Promise<T> => await orUnavailable(name, act);
  return {
    async readAccess() {
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
    recordedWithdrawal: (address, blockTag) => onHub(() => hub.recordedWithdrawal(address, blockTag)),
    async record(address, withdrawalId, { receiver, ...request }, oracleSignature) {
      const data = encodeFunctionData({
        abi: allocatorAbi,
        functionName: "record",
        args: [address, withdrawalId, { ...request, receiver }, oracleSignature],
      });
      return await onHub(() =>
        payCall(services, hub.lane, allocator, {
          callId: `record ${withdrawalId}`,
          what: "recording the payload",
          to: allocatorAddress,
          data,
          abi: allocatorAbi,
        }),
      );
    },
    async sign(request) {
      return await signTypedData(allocator, {
        domain: depositoryDomain(chain.id, depository),
        types: callRequestTypes,
        primaryType: "CallRequest",
        message: { ...request },
      });
    },
    isExecuted: (withdrawalId) =>
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
        payCall(services, lane, allocator, {
          callId: `execute ${evmCallRequestId(request)}`,
          what: "the payout",
          to: depository,
          data,
          abi: depositoryAbi,
        }),
      );
    },
    async close() {
      await Promise.all([hubConnection.close(), chainConnection.close()]);
    },
  };
}
