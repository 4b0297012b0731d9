import { createChainReader, createChainWriter, createRpcTransport, type Head } from "@causeway/chains";
import type { Address, Chain, Hex, TxHash } from "@causeway/domain";
import { createLocalClient, startAnvil, type LocalClient, type RunningAnvil } from "@causeway/testkit";
import { fundLocal, type LocalAccount } from "@causeway/localnet";
import { erc20Abi, parseEther, parseUnits } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { accountsOn } from "../../apps/api/src/chains/accounts-on.ts";
import { createChainPulse, type OwnedChainPulse } from "../../apps/api/src/chains/pulse.adapter.ts";
import type { Clock } from "../../apps/api/src/db/clock.port.ts";
import type { ConnectedChain } from "../../apps/api/src/chains/chains.port.ts";
import { steppedHeads } from "../fakes/stepped-heads.ts";
import { sentTransactions, type SentTransaction } from "./sent-transactions.ts";

/** A transaction that an account sends. The node fills in no fields. */
export interface UserCall {
  readonly to: Address;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly nonce?: number;
  /** Gas limit; default 300,000. */
  readonly gas?: bigint;
}

/** A real chain on which only the test mines blocks. `connected` is the view of the services. */
export interface TestChain {
  readonly chain: Chain;
  readonly client: LocalClient;
  readonly connected: ConnectedChain & { readonly pulse: OwnedChainPulse };
  /** Mines blocks. The first one includes the pending transactions. */
  mine(blocks?: number): Promise<void>;
  /**
   * Replaces the newest blocks with as many empty blocks plus one, so that the new branch is longer. Their
   * transactions do not return to the mempool.
   */
  reorg(depth: number): Promise<void>;
  /** Notifies the services of the newest block. */
  announce(): Promise<Head>;
  /** Puts a signed transaction into the mempool. */
  send(from: LocalAccount, call: UserCall): Promise<TxHash>;
  /** The balance of a holder. The zero address as currency means the native token. */
  balance(holder: Address, currency: Address): Promise<bigint>;
  /** The mined transactions of `sender` in canonical blocks from `since` on, oldest first. */
  sentBy(sender: Address, since?: bigint): Promise<readonly SentTransaction[]>;
  /** Creates native tokens and tokens for a holder. */
  fund(holder: Address, amounts?: { readonly native?: bigint; readonly tokens?: bigint }): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a node with the contracts and funded accounts of a saved state. Its mempool is empty. */
export async function startTestChain(
  chainAt: (url: string) => Chain,
  chainId: number,
  options: {
    /** The path of the saved state. */
    readonly state: string;
    readonly clock: Clock;
    readonly solver: Address;
    readonly gasPayers?: readonly Address[];
    readonly onFault: (error: unknown) => void;
  },
): Promise<TestChain> {
  const node: RunningAnvil = await startAnvil({
    chainId,
    extraArgs: ["--no-mining", "--load-state", options.state],
  });
  const chain = chainAt(node.url);
  const client = createLocalClient(node);
  const transport = createRpcTransport({ url: node.url });
  const heads = steppedHeads();
  const reader = createChainReader(chain, transport, { knownHead: () => heads.latest });
  const connection = {
    reader,
    writer: createChainWriter(transport),
    heads,
    close: async () => undefined,
  };
  const pulse = createChainPulse({
    chain,
    connection,
    clock: options.clock,
    monotonic: options.clock,
    solver: options.solver,
    gasPayers: options.gasPayers ?? [],
    maxAgeMs: Number.MAX_SAFE_INTEGER,
    quietRefreshMs: 2 ** 30,
    onFault: options.onFault,
  });
  const announce = async (): Promise<Head> => {
    const head = heads.announce(await reader.head(), options.clock.nowMs());
    await pulse.refresh();
    return head;
  };
  const mine = async (blocks = 1): Promise<void> => await client.mine({ blocks });
  const tokens = chain.tokens;
  return {
    chain,
    client,
    connected: { chain, connection, pulse, users: accountsOn(chain, connection) },
    mine,
    reorg: async (depth) => {
      await client.request({ method: "anvil_reorg" as never, params: [depth, []] as never });
      await mine();
    },
    announce,
    send: async (from, { to, data = "0x", value = 0n, nonce, gas = 300_000n }) =>
      await client.sendTransaction({
        account: privateKeyToAccount(from.privateKey),
        to,
        data,
        value,
        gas,
        maxFeePerGas: 500_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
        nonce: nonce ?? (await client.getTransactionCount({ address: from.address, blockTag: "pending" })),
      }),
    balance: async (holder, currency) =>
      BigInt(currency) === 0n
        ? await client.getBalance({ address: holder })
        : await client.readContract({
            abi: erc20Abi,
            address: currency,
            functionName: "balanceOf",
            args: [holder],
          }),
    sentBy: sentTransactions(client),
    fund: async (holder, { native = parseEther("1000"), tokens: whole = 1_000_000n } = {}) =>
      await fundLocal(node, [
        {
          address: holder,
          nativeWei: native,
          tokens:
            whole === 0n
              ? []
              : tokens.map(({ address, decimals }) => ({
                  token: address,
                  amount: parseUnits(whole.toString(), decimals),
                })),
        },
      ]),
    stop: async () => {
      pulse.close();
      await transport.close();
      await node.stop();
    },
  };
}
