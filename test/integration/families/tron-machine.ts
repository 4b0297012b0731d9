import type { Address, Hex } from "@causeway/domain";
import { decodeAddress } from "@causeway/families";
import { createTronWallet, startTronNode, type RunningTron } from "@causeway/simulators/tron";
import { rpcAt, withContracts, type Machine, type MachineBase } from "./machine.ts";

export interface TronMachine extends Machine {
  readonly tron: RunningTron;
  /** Transfers native tokens with the wallet's memo. Returns the transaction's id. */
  transfer(to: Address, sun: bigint, memo?: Hex): Promise<string>;
  /** Like `send` by the solver, but with a memo and an energy limit. */
  sendWith(
    call: Parameters<MachineBase["send"]>[1],
    options: { memo?: Hex; feeLimit?: bigint },
  ): Promise<string>;
}

const DEPTH = 3;

/** A Tron network. Another chain id makes it a different network. */
export async function startTronMachine(chainId?: number): Promise<TronMachine> {
  const tron = await startTronNode({ solidLagBlocks: DEPTH, ...(chainId === undefined ? {} : { chainId }) });
  const rpc = rpcAt(tron.evm.url);
  const wallets = {
    user: createTronWallet(tron.url, `0x${"01".repeat(32)}`),
    solver: createTronWallet(tron.url, `0x${"02".repeat(32)}`),
    alice: createTronWallet(tron.url, `0x${"03".repeat(32)}`),
  };
  const receiptOf = async (id: string): Promise<unknown> => {
    const response = await fetch(tron.rpcUrl, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getTransactionReceipt", params: [id] }),
    });
    return ((await response.json()) as { result: unknown }).result;
  };
  const base: MachineBase = {
    family: "tron-vm",
    urls: [tron.rpcUrl],
    rpc,
    chainId: tron.chainId,
    depth: DEPTH,
    nativeFunds: 10n ** 15n,
    accounts: {
      user: wallets.user.tvmAddress,
      solver: wallets.solver.tvmAddress,
      alice: wallets.alice.tvmAddress,
    },
    format: (address) => decodeAddress("tron-vm", `0x41${address.slice(2)}`),
    send: async (who, { to, data, value }) =>
      await wallets[who].call(to, data, value === undefined ? {} : { value }),
    receipt: async (id) => (await receiptOf(id)) as Awaited<ReturnType<MachineBase["receipt"]>>,
    chainAt: (urls, { depository, router }) => ({
      name: "tron",
      vmType: "tron-vm",
      rpcUrls: urls,
      rpcQuorum: 1,
      depository: decodeAddress("tron-vm", `0x41${depository.slice(2)}`),
      additionalDepositories: [],
      hubChainId: "728126428",
      evm: undefined,
      tron: { chainId: tron.chainId, blockTimeSeconds: 3, fillContracts: [router], apiKey: undefined },
    }),
    otherFormats: (id) => [`0x${id}`, id.toUpperCase(), `0X${id}`],
    close: async () => await tron.close(),
  };
  const machine = await withContracts(base);
  return {
    ...machine,
    tron,
    transfer: async (to, sun, memo) =>
      await wallets.solver.transfer(machine.format(to), sun, memo === undefined ? {} : { memo }),
    sendWith: async ({ to, data, value }, options) =>
      await wallets.solver.call(to, data, { ...(value === undefined ? {} : { value }), ...options }),
  };
}
