import { RpcFault } from "@causeway/chains";
import type { RpcTransport } from "@causeway/chains";
import { allocatorAbi, hubAbi, oracleAbi } from "@causeway/contracts";
import type { Address, AttestationHub, Hex, Hex32 } from "@causeway/domain";
import { decodeFunctionResult, encodeFunctionData } from "viem";
import type { HubReader } from "../../ports/hub-reader.ts";
import { createFinalBlock } from "./final-block.ts";

const NONE: Hex32 = `0x${"00".repeat(32)}`;

/** The hub named by the configuration is not the one that the oracle contract writes to: what is read here would not be what executions change. */
export class WrongHub extends Error {
  override readonly name = "WrongHub";

  constructor(configured: Address, actual: Address) {
    super(`hubAddress is ${configured}, but the oracle contract serves ${actual}`);
  }
}

/**
 * Reads the hub's contracts at a final block, pinned by its hash.
 * @param transport lets no call through to a node of another chain.
 */
export function createHubReader(
  hub: AttestationHub,
  transport: RpcTransport,
): HubReader & { verify(): Promise<void> } {
  const finalBlock = createFinalBlock(transport, hub.finality);
  let ledger: Promise<Address> | undefined;

  async function call(to: Address, data: Hex): Promise<Hex> {
    const method = "eth_call";
    const block = await finalBlock.current();
    const answer = await transport.request(method, [{ to, data }, { blockHash: block.hash }]);
    await finalBlock.mustBeCanonical(block);
    if (typeof answer !== "string" || !/^0x[0-9a-f]{64}$/i.test(answer))
      throw new RpcFault({ kind: "garbage", method, reason: "the hub's contract gave no word of 32 bytes" });
    return answer.toLowerCase() as Hex;
  }

  /** From the contract that carries executions out, not from the configuration: only its ledger counts. It never changes. */
  async function ledgerAddress(): Promise<Address> {
    ledger ??= call(hub.oracleAddress, encodeFunctionData({ abi: oracleAbi, functionName: "HUB" })).then(
      (word) => {
        const address: Address = `0x${word.slice(26)}`;
        if (address !== hub.hubAddress) throw new WrongHub(hub.hubAddress, address);
        return address;
      },
    );
    try {
      return await ledger;
    } catch (error) {
      ledger = undefined;
      throw error;
    }
  }

  return {
    async verify() {
      await ledgerAddress();
    },
    async balanceOf(account, tokenId) {
      const data = encodeFunctionData({ abi: hubAbi, functionName: "balanceOf", args: [account, tokenId] });
      return BigInt(await call(await ledgerAddress(), data));
    },
    async recordedWithdrawal(withdrawalAddress) {
      if (hub.allocatorAddress === undefined) throw new TypeError("a hub without an allocator");
      const functionName = "withdrawalIdOf";
      const data = encodeFunctionData({ abi: allocatorAbi, functionName, args: [withdrawalAddress] });
      const word = await call(hub.allocatorAddress, data);
      const id = decodeFunctionResult({ abi: allocatorAbi, functionName, data: word });
      return id === NONE ? undefined : id;
    },
  };
}
