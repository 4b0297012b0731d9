import { finalBlockReads, RpcFault } from "@causeway/chains";
import type { BlockRef, RpcTransport } from "@causeway/chains";
import { allocatorAbi, hubAbi, oracleAbi, oracleMultisigAbi } from "@causeway/contracts";
import type { Address, AttestationHub, Hex, Hex32 } from "@causeway/domain";
import { decodeFunctionResult, encodeFunctionData } from "viem";
import type { HubReader } from "../../ports/hub-reader.ts";

/**
 * First guess in the search for an old enough block when the finality policy is in seconds. On a slower hub
 * the block found is older than necessary.
 */
const NOMINAL_BLOCK_SECONDS = 1;
const NO_WITHDRAWAL_ID: Hex32 = `0x${"00".repeat(32)}`;

/**
 * The configured hub is not the one that the oracle contract writes to: reads here would not show what
 * executions change.
 */
export class WrongHub extends Error {
  override readonly name = "WrongHub";

  constructor(configured: Address, actual: Address) {
    super(`hubAddress is ${configured}, but the Oracle contract belongs to hub ${actual}`);
  }
}

/**
 * Reads the hub's contracts at a final block, pinned by its hash. Refuses a read whose block was reorged out
 * in the meantime.
 * @param transport must refuse to call nodes of another chain
 */
export function createHubReader(
  hub: AttestationHub,
  transport: RpcTransport,
): HubReader & { verify(): Promise<void> } {
  const final = finalBlockReads(transport, {
    finality: hub.finality,
    blockTimeSeconds: NOMINAL_BLOCK_SECONDS,
  });
  let ledger: Promise<Address> | undefined;

  async function finalBlock(method: string): Promise<BlockRef> {
    const head = await final.block();
    if (head.kind === "final") return head.value;
    throw new RpcFault({ kind: "inconsistent", method, reason: "hub has no final block yet" });
  }

  async function call(to: Address, data: Hex): Promise<Hex> {
    const method = "eth_call";
    const block = await finalBlock(method);
    const blockParameter = { blockHash: block.hash, requireCanonical: true };
    const answer = await transport.request(method, [{ to, data }, blockParameter]);
    await final.confirm(block);
    if (typeof answer !== "string" || !/^0x[0-9a-f]{64}$/i.test(answer))
      throw new RpcFault({ kind: "garbage", method, reason: "hub contract did not return a 32-byte word" });
    return answer.toLowerCase() as Hex;
  }

  /**
   * Read from the contract that runs executions, not from the configuration, because only that ledger
   * counts. It never changes.
   */
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
    async newestFinal() {
      const { number, timestamp } = await finalBlock("eth_getBlockByNumber");
      return { height: number, timestamp };
    },
    async multisig(account) {
      const { oracleMultisigAddress: multisig } = hub;
      if (multisig === undefined)
        throw new TypeError("invariant violated: multisig read from a hub without oracleMultisigAddress");
      const abi = oracleMultisigAbi;
      const [isSigner, threshold] = await Promise.all([
        call(multisig, encodeFunctionData({ abi, functionName: "isSigner", args: [account] })),
        call(multisig, encodeFunctionData({ abi, functionName: "threshold" })),
      ]);
      return { isSigner: BigInt(isSigner) === 1n, threshold: Number(threshold) };
    },
    async recordedWithdrawal(withdrawalAddress) {
      if (hub.allocatorAddress === undefined)
        throw new TypeError("invariant violated: hub without allocatorAddress");
      const functionName = "withdrawalIdOf";
      const data = encodeFunctionData({ abi: allocatorAbi, functionName, args: [withdrawalAddress] });
      const word = await call(hub.allocatorAddress, data);
      const id = decodeFunctionResult({ abi: allocatorAbi, functionName, data: word });
      return id === NO_WITHDRAWAL_ID ? undefined : id;
    },
  };
}
