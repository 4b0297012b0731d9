import { TronWeb } from "tronweb";
import type { Hex } from "viem";
import { bare, tronHex } from "./tron-address.ts";
import type { SignedTransaction } from "./tron-chain.ts";

/** Options of a transaction. */
export interface TronSend {
  /** Memo, as bytes. */
  readonly memo?: Hex;
  /** Value of a call, in sun. */
  readonly value?: bigint;
  /** Fee limit in sun. Default: 1,000 TRX. */
  readonly feeLimit?: bigint;
}

/** A user's wallet on a Tron node. Builds, signs and broadcasts with TronWeb, the library of real wallets. */
export interface TronWallet {
  /** Base58. */
  readonly address: string;
  /** 20 bytes, the format of contracts. */
  readonly tvmAddress: Hex;
  /** Pays sun to an account; returns the transaction id. @param to base58 */
  transfer(to: string, sun: bigint, send?: TronSend): Promise<string>;
  /**
   * Calls a contract; returns the transaction id even if the call fails.
   *
   * @param contract 20 bytes
   */
  call(contract: Hex, data: Hex, send?: TronSend): Promise<string>;
  /** Builds and signs a call without sending it. */
  signCall(contract: Hex, data: Hex, send?: TronSend): Promise<SignedTransaction>;
  /** @throws TronRefused with the node's error code */
  broadcast(signed: SignedTransaction): Promise<string>;
}

/** The node refused a transaction. */
export class TronRefused extends Error {
  override readonly name = "TronRefused";
  /** The node's error code. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

/** @param url base of the node's `/wallet` @param privateKey 32 bytes */
export function createTronWallet(url: string, privateKey: Hex): TronWallet {
  const tronWeb = new TronWeb({ fullHost: url, privateKey: bare(privateKey) });
  const { base58, hex } = tronWeb.defaultAddress;
  if (base58 === false || hex === false) throw new RangeError("private key is not valid");

  const sign = async (transaction: object, memo: Hex | undefined): Promise<SignedTransaction> => {
    type Built = Parameters<typeof tronWeb.trx.sign>[0] &
      Parameters<typeof tronWeb.transactionBuilder.addUpdateData>[0];
    const built = transaction as Built;
    const withMemo =
      memo === undefined
        ? built
        : await tronWeb.transactionBuilder.addUpdateData(built, bare(memo), "hex", { txLocal: true });
    return (await tronWeb.trx.sign(withMemo)) as unknown as SignedTransaction;
  };
  const signCall: TronWallet["signCall"] = async (contract, data, { memo, value, feeLimit } = {}) => {
    const { transaction } = await tronWeb.transactionBuilder._triggerSmartContractLocal(
      tronHex(contract),
      "",
      {
        input: bare(data),
        callValue: Number(value ?? 0n),
        feeLimit: Number(feeLimit ?? 1_000_000_000n),
        txLocal: true,
      },
      [],
      base58,
    );
    return await sign(transaction, memo);
  };
  const broadcast: TronWallet["broadcast"] = async (transaction) => {
    const response = await fetch(`${url}/wallet/broadcasttransaction`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(transaction),
    });
    const answer = (await response.json()) as {
      readonly result?: boolean;
      readonly code?: string;
      readonly message?: string;
      readonly txid?: string;
    };
    if (answer.result === true && answer.txid !== undefined) return answer.txid;
    throw new TronRefused(
      answer.code ?? "UNKNOWN",
      Buffer.from(answer.message ?? "", "hex").toString("utf8"),
    );
  };
  return {
    address: base58,
    tvmAddress: `0x${hex.slice(2).toLowerCase()}`,
    transfer: async (to, sun, { memo } = {}) =>
      await broadcast(await sign(await tronWeb.transactionBuilder.sendTrx(to, Number(sun), base58), memo)),
    call: async (contract, data, send) => await broadcast(await signCall(contract, data, send)),
    signCall,
    broadcast,
  };
}
