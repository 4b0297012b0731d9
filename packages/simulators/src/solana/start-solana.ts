import { base64 } from "@scure/base";
import { Ledger } from "./ledger.ts";
import { methodsOf } from "./rpc-methods.ts";
import { startRpcServer, type RpcCall, type RpcTrouble } from "./rpc-server.ts";
import type { StoredAccount } from "./account-history.ts";
import { signedTransaction, solanaKey } from "./wallet.ts";

export interface SolanaOptions {
  /** On 127.0.0.1; any free one without it. */
  readonly port?: number;
  /** Milliseconds between two slots; 0: only `passSlots` makes them. Default 400. */
  readonly slotMs?: number;
  /** Slots by which the final view lies behind the newest. Default 32. */
  readonly finalityLag?: number;
  /** Of which cluster the node says to be. */
  readonly genesisHash?: string;
}

/** What tests do to a node behind its callers' backs. */
export interface SolanaControls {
  /** Blocks without transactions; `skipped`: as many slots without any block before each. */
  passSlots(count: number, skipped?: number): void;
  /** Everything so far becomes final. */
  finalize(): void;
  /** The chain's time goes forward by so many seconds, in the current block and after. */
  passSeconds(seconds: number): void;
  /** The chain's time now, Unix seconds. */
  time(): number;
  slot(): number;
  /** Nothing more becomes final until it resumes. */
  pauseFinality(): void;
  resumeFinality(): void;
  /** Undoes the blocks from `slot` on. @throws Error when that is final */
  dropFrom(slot: number): void;
  /** Transactions are accepted and forgotten. */
  dropTransactions(isDropping: boolean): void;
  /** What goes wrong with each call from now on. */
  trouble(choose: ((call: RpcCall) => RpcTrouble | undefined) | undefined): void;
  /** Calls of a method so far. */
  calls(method: string): number;
  /** Deploys a program. Without an upgrade authority, no one can upgrade it. */
  addProgram(id: string, program: Uint8Array, upgradeAuthority?: string): void;
  setAccount(address: string, account: StoredAccount): void;
  /** The account as the newest block has it. */
  account(address: string): StoredAccount | undefined;
}

export interface RunningSolana {
  readonly url: string;
  readonly controls: SolanaControls;
  close(): Promise<void>;
}

const LOCAL_GENESIS = "LoCaL1111111111111111111111111111111111111";

/**
 * A Solana cluster of one machine: the JSON-RPC interface of a node over a real virtual machine, with the
 * system, token (both), associated token, memo, compute budget, lookup table and signature programs that
 * clusters have.
 *
 * Blocks hold transactions also when they fail; a transaction lives for 150 blocks from the one it names;
 * every view but the newest lies behind. There is no leader schedule, no stake, no websocket.
 */
export async function startSolana(options: SolanaOptions = {}): Promise<RunningSolana> {
  const { port = 0, slotMs = 400, finalityLag = 32, genesisHash = LOCAL_GENESIS } = options;
  let aheadSeconds = 0;
  const now = (): number => Math.floor(Date.now() / 1_000) + aheadSeconds;
  const ledger = new Ledger({ finalityLag, now, genesisHash });
  let isDropping = false;

  const well = await solanaKey();
  ledger.setAccount(well.address, {
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
    // Equal airdrops in one block are two transactions all the same.
    airdrops += 1n;
    const different = Buffer.alloc(9);
    different.writeUInt8(3, 0);
    different.writeBigUInt64LE(airdrops, 1);
    const raw = await signedTransaction(
      [
        { programId: "ComputeBudget111111111111111111111111111111", keys: [], data: different },
        {
          programId: "11111111111111111111111111111111",
          keys: [
            { pubkey: well.address, isSigner: true, isWritable: true },
            { pubkey: to, isSigner: false, isWritable: true },
          ],
          data,
        },
      ],
      { signers: [well], blockhash: ledger.slots.current.hash },
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
        for (let made = 0; made < count; made++) ledger.nextSlot(skipped);
      },
      finalize: () => {
        for (let made = 0; made < finalityLag + 1; made++) ledger.nextSlot();
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
      trouble: (choose) => server.trouble(choose),
      calls: (method) => server.calls(method),
      addProgram: (id, program, upgradeAuthority) => ledger.addProgram(id, program, upgradeAuthority),
      setAccount: (of, account) => ledger.setAccount(of, account),
      account: (of) => ledger.account(of, ledger.slots.current.slot),
    },
    close: async () => {
      clearInterval(timer);
      await server.close();
    },
  };
}
