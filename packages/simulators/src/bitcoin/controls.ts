import { p2wpkh, Transaction } from "@scure/btc-signer";
import { pubECDSA } from "@scure/btc-signer/utils.js";
import { REGTEST } from "./raw-transaction.ts";

/** An unspent output. */
export interface FundedOutput {
  readonly txid: string;
  readonly vout: number;
  /** Satoshis. */
  readonly amount: bigint;
  readonly address: string;
}

/** Test controls of a regtest node over its JSON-RPC; Bitcoin Core supports all of them too. */
export interface BitcoinControls {
  /** Calls the node. @throws BitcoinRefusal */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>;
  /** Mines blocks with the pending transactions. @returns their hashes */
  mine(blocks: number): Promise<readonly string[]>;
  /** Mines one block of exactly these transactions (hex), including non-standard ones. @returns its hash */
  mineExactly(rawTransactions: readonly string[]): Promise<string>;
  /**
   * Replaces the newest blocks with a branch that is one block longer and contains these transactions, but
   * none of the orphaned ones.
   */
  reorganize(depth: number, rawTransactions?: readonly string[]): Promise<void>;
  /** Pays from the first outputs of the chain, and mines a block unless `confirm` is false. */
  fund(address: string, satoshis: bigint, confirm?: boolean): Promise<FundedOutput>;
  /** Submits a transaction to the node. @returns its id @throws BitcoinRefusal */
  send(rawTransaction: string): Promise<string>;
}

/** The node refused the transaction. */
export class BitcoinRefusal extends Error {
  override readonly name = "BitcoinRefusal";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Block rewards can be spent after 100 blocks; bcoin activates segregated witness after block 432. */
const FIRST_BLOCKS = 450;
const SECONDS_APART = 20;
const FAUCET_KEY = Uint8Array.from(Buffer.from("c0ffee".padStart(64, "0"), "hex"));
const FAUCET_FEE = 1_000n;

/**
 * Returns the controls of a node, after mining the blocks whose rewards they spend.
 * @param rpcUrl with user and password
 */
export async function bitcoinControls(rpcUrl: string): Promise<BitcoinControls> {
  const faucet = p2wpkh(pubECDSA(FAUCET_KEY), REGTEST);
  const faucetAddress = faucet.address ?? "";
  const call = callerOf(rpcUrl);
  const outputs = await mineFirstBlocks(call, faucetAddress);

  /** Takes an output to spend. `fund` returns its change to the list if it is confirmed. */
  const takeOutput = (): FaucetOutput => {
    const output = outputs.shift();
    if (output === undefined) throw new Error("faucet is empty");
    return output;
  };
  const mineExactly = async (rawTransactions: readonly string[]): Promise<string> => {
    const { hash } = (await call("generateblock", faucetAddress, rawTransactions)) as { hash: string };
    return hash;
  };
  return {
    call,
    mine: async (blocks) => (await call("generatetoaddress", blocks, faucetAddress)) as readonly string[],
    mineExactly,
    reorganize: async (depth, rawTransactions = []) => {
      const height = Number(await call("getblockcount"));
      await call("invalidateblock", await call("getblockhash", height - depth + 1));
      await mineExactly(rawTransactions);
      for (let mined = 0; mined < depth; mined++) await mineExactly([]);
    },
    fund: async (address, satoshis, confirm = true) => {
      const { txid, vout, amount } = takeOutput();
      const tx = new Transaction();
      tx.addInput({ txid, index: vout, witnessUtxo: { script: faucet.script, amount } });
      tx.addOutputAddress(address, satoshis, REGTEST);
      tx.addOutput({ script: faucet.script, amount: amount - satoshis - FAUCET_FEE });
      tx.sign(FAUCET_KEY);
      tx.finalize();
      await call("sendrawtransaction", tx.hex);
      if (confirm) {
        await mineExactly([tx.hex]);
        outputs.push({ txid: tx.id, vout: 1, amount: amount - satoshis - FAUCET_FEE });
      }
      return { txid: tx.id, vout: 0, amount: satoshis, address };
    },
    send: async (rawTransaction) => String(await call("sendrawtransaction", rawTransaction)),
  };
}

/** The address of a key's witness program, on the regtest network. @param privateKey 32 bytes */
export function bitcoinAddress(privateKey: Uint8Array): string {
  return p2wpkh(pubECDSA(privateKey), REGTEST).address ?? "";
}

type FaucetOutput = Pick<FundedOutput, "txid" | "vout" | "amount">;
type CallNode = BitcoinControls["call"];

/**
 * Mines blocks with old times, some seconds apart, so that the newest is not in the future.
 *
 * @returns the outputs of the first blocks
 */
async function mineFirstBlocks(call: CallNode, address: string): Promise<FaucetOutput[]> {
  const hashes: string[] = [];
  const batch = 50;
  const startedAt = Math.floor(Date.now() / 1_000);
  const { time } = (await call("getblockheader", await call("getbestblockhash"))) as { time: number };
  // Do not mine blocks with old times on a chain that is already in use.
  const isOld = time < startedAt - FIRST_BLOCKS * SECONDS_APART;
  for (let mined = 0; mined < FIRST_BLOCKS; mined += batch) {
    if (isOld) await call("setmocktime", startedAt - (FIRST_BLOCKS - mined) * SECONDS_APART);
    hashes.push(...((await call("generatetoaddress", batch, address)) as string[]));
  }
  await call("setmocktime", 0);
  const mature = hashes.slice(0, 100);
  const coinbaseOutputs: FaucetOutput[] = [];
  for (const hash of mature) {
    const { tx } = (await call("getblock", hash, 2)) as { tx: { txid: string; vout: { value: number }[] }[] };
    const [coinbase] = tx;
    if (coinbase === undefined) continue;
    // A float represents the subsidy exactly.
    const amount = BigInt(Math.round((coinbase.vout[0]?.value ?? 0) * 100_000_000));
    coinbaseOutputs.push({ txid: coinbase.txid, vout: 0, amount });
  }
  return coinbaseOutputs;
}

function callerOf(rpcUrl: string): CallNode {
  const url = new URL(rpcUrl);
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const headers = {
    "content-type": "application/json",
    authorization: `Basic ${Buffer.from(credentials).toString("base64")}`,
  };
  const target = `${url.origin}${url.pathname}`;
  return async (method, ...params) => {
    const response = await fetch(target, {
      method: "POST",
      headers,
      body: JSON.stringify({ jsonrpc: "1.0", id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as {
      result: unknown;
      error: { code: number; message: string } | null;
    };
    if (error !== null && error !== undefined) throw new BitcoinRefusal(error.code, error.message);
    return result;
  };
}
