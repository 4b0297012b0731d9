import { base64 } from "@scure/base";
import { Ledger } from "./ledger.ts";
import { methodsOf } from "./rpc-methods.ts";
import { startRpcServer, type RpcCall, type InjectedFault } from "./rpc-server.ts";
import type { StoredAccount } from "./account-history.ts";
import { signedTransaction, solanaKey } from "./wallet.ts";

export interface SolanaOptions {
  /** On 127.0.0.1. Default: any free port. */
  readonly port?: number;
  /** Milliseconds between slots; 0: only `passSlots` creates them. Default: 400. */
  readonly slotMs?: number;
  /** Slots by which finalized lags behind processed. Default: 32. */
  readonly finalityLag?: number;
  /** Genesis hash of the cluster that the node reports. */
  readonly genesisHash?: string;
}

/** Controls for tests, in addition to the node's API. */
export interface SolanaControls {
  /** Produces empty blocks; `skipped`: number of slots without a block before each. */
  passSlots(count: number, skipped?: number): void;
  /** Makes everything so far final. */
  finalize(): void;
  /** Advances the chain's time by this many seconds, from the current block on. */
  passSeconds(seconds: number): void;
  /** The chain's current time, Unix seconds. */
  time(): number;
  slot(): number;
  /** Pauses finality until it is resumed. */
  pauseFinality(): void;
  resumeFinality(): void;
  /** Undoes the blocks from `slot` on. @throws Error if the slot is final */
  dropFrom(slot: number): void;
  /** Accepts transactions, then drops them. */
  dropTransactions(isDropping: boolean): void;
  /** Chooses the fault of each call from now on. */
  injectFaults(choose: ((call: RpcCall) => InjectedFault | undefined) | undefined): void;
  /** Number of calls of a method so far. */
  calls(method: string): number;
  /** Deploys a program. Without an upgrade authority, no one can upgrade it. */
  addProgram(id: string, program: Uint8Array, upgradeAuthority?: string): void;
  setAccount(address: string, account: StoredAccount): void;
  /** The account at the newest block. */
  account(address: string): StoredAccount | undefined;
}

export interface RunningSolana {
  readonly url: string;
  readonly controls: SolanaControls;
  close(): Promise<void>;
}

const LOCAL_GENESIS = "LoCaL1111111111111111111111111111111111111";

/**
 * A Solana cluster of one node: the JSON-RPC API in front of a real virtual machine, with the system, token
 * (both), associated token, memo, compute budget, lookup table and signature programs of real clusters.
 *
 * Blocks include failed transactions, a blockhash is valid for 150 blocks, and every commitment level except
 * processed lags behind. There is no leader schedule, no stake and no WebSocket.
 */
export async function startSolana(options: SolanaOptions = {}): Promise<RunningSolana> {
  const { port = 0, slotMs = 400, finalityLag = 32, genesisHash = LOCAL_GENESIS } = options;
  let aheadSeconds = 0;
  const now = (): number => Math.floor(Date.now() / 1_000) + aheadSeconds;
  const ledger = new Ledger({ finalityLag, now, genesisHash });
  let isDropping = false;

  const faucet = await solanaKey();
  ledger.setAccount(faucet.address, {
    lamports: 500_000_000n * 1_000_000_000n,
    owner: "11111111111111111111111111111111",
    executable: false,
    data: new Uint8Array(),
  });
  let airdrops = 0n;
  const airdrop = async (to: string, amount: bigint): Promise<string> => {
    const data = Buffer.alloc(12);
    data.writeUInt32LE(2, 0);
    data.writeBigUInt64LE(amount, 4);
    // Makes equal airdrops in one block distinct transactions.
    airdrops += 1n;
    const uniquePrice = Buffer.alloc(9);
    uniquePrice.writeUInt8(3, 0);
    uniquePrice.writeBigUInt64LE(airdrops, 1);
    const raw = await signedTransaction(
      [
        { programId: "ComputeBudget111111111111111111111111111111", keys: [], data: uniquePrice },
        {
          programId: "11111111111111111111111111111111",
          keys: [
            { pubkey: faucet.address, isSigner: true, isWritable: true },
            { pubkey: to, isSigner: false, isWritable: true },
          ],
          data,
        },
      ],
      { signers: [faucet], blockhash: ledger.slots.current.hash },
    );
    return ledger.include(base64.decode(raw));
  };

  const server = await startRpcServer(methodsOf(ledger, { airdrop, isDropping: () => isDropping }), port);
  const timer = slotMs === 0 ? undefined : setInterval(() => ledger.nextSlot(), slotMs);
  timer?.unref();

  return {
    url: server.url,
    controls: {
      passSlots: (count, skipped = 0) => {
        for (let slotCount = 0; slotCount < count; slotCount++) ledger.nextSlot(skipped);
      },
      finalize: () => {
        for (let slotCount = 0; slotCount < finalityLag + 1; slotCount++) ledger.nextSlot();
      },
      passSeconds: (seconds) => {
        aheadSeconds += seconds;
        ledger.nextSlot();
      },
      time: () => ledger.slots.current.time,
      slot: () => ledger.slots.current.slot,
      pauseFinality: () => ledger.slots.pauseFinality(),
      resumeFinality: () => ledger.slots.resumeFinality(),
      dropFrom: (slot) => ledger.dropFrom(slot),
      dropTransactions: (next) => {
        isDropping = next;
      },
      injectFaults: (choose) => server.injectFaults(choose),
      calls: (method) => server.calls(method),
      addProgram: (id, program, upgradeAuthority) => ledger.addProgram(id, program, upgradeAuthority),
      setAccount: (accountAddress, account) => ledger.setAccount(accountAddress, account),
      account: (accountAddress) => ledger.account(accountAddress, ledger.slots.current.slot),
    },
    close: async () => {
      clearInterval(timer);
      await server.close();
    },
  };
}
