import { NETWORK, p2wpkh, TEST_NETWORK, Transaction } from "@scure/btc-signer";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { hexToBytes, type Hex } from "viem";
import { z } from "zod";
import { ANSWER_WITHIN_MS } from "@causeway/testkit";

/** The PSBT that a step asks a Bitcoin wallet to sign, in base64 or hex. */
const bitcoinItem = z.object({ psbt: z.string().min(1) });

const utxos = z.array(z.object({ txid: z.string(), vout: z.number(), value: z.number() }));

/** A user's wallet on a Bitcoin network, native segwit. */
export interface BitcoinWallet {
  readonly address: string;
  /** Satoshis of all unspent outputs, including unconfirmed ones. */
  balance(): Promise<bigint>;
  /**
   * Signs and broadcasts the PSBT of a step's item.
   *
   * @returns the transaction id
   * @throws Error if the node refuses it
   */
  execute(data: unknown): Promise<string>;
}

/** @param prefix of addresses: `bc`, `tb` or `bcrt` */
export function createBitcoinWallet(esploraUrl: string, privateKey: Hex, prefix: string): BitcoinWallet {
  const key = hexToBytes(privateKey);
  const network = prefix === "bc" ? NETWORK : { ...TEST_NETWORK, bech32: prefix };
  const { address } = p2wpkh(secp256k1.getPublicKey(key, true), network);
  if (address === undefined) throw new TypeError("invariant violated: public key has no address");
  const request = async (path: string, init: RequestInit = {}): Promise<string> => {
    const response = await fetch(`${esploraUrl}${path}`, {
      ...init,
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${text.slice(0, 300)}`);
    return text;
  };
  return {
    address,
    balance: async () =>
      utxos
        .parse(JSON.parse(await request(`/address/${address}/utxo`)))
        .reduce((sum, { value }) => sum + BigInt(value), 0n),
    execute: async (data) => {
      const { psbt } = bitcoinItem.parse(data);
      const isHex = /^(0x)?[0-9a-f]+$/i.test(psbt);
      const bytes = Buffer.from(psbt.replace(/^0x/, ""), isHex ? "hex" : "base64");
      const transaction = Transaction.fromPSBT(bytes, { allowUnknownOutputs: true });
      transaction.sign(key);
      transaction.finalize();
      return await request("/tx", { method: "POST", body: transaction.hex });
    },
  };
}
