import type { Hex } from "@causeway/domain";
import { decodeBitcoinAddress, encodeAddress, formatAddress, nativeCurrency } from "@causeway/families";
import type { BitcoinDepositData, OpenNonEvmUsers, UserDeposit, UsersOptions } from "../non-evm-users.ts";
import { createRestClient } from "../nodes/rest-client.ts";
import {
  bytesIn,
  readRawTransaction,
  scriptOfAddress,
  type ReportedOutput,
} from "@causeway/families/bitcoin";
import { depositTransaction, typicalDepositFee } from "./deposit-psbt.ts";
import { createExplorer } from "./explorer.ts";
import { cachedFeeRate, maxFeeRate } from "./fee-rate.ts";
import { inputKindOf } from "./sizes-and-dust.ts";

const NATIVE = encodeAddress("bitcoin-vm", nativeCurrency("bitcoin-vm"));

/**
 * Maximum outputs of an address that are considered, the largest first: any client can ask about an address
 * with 100,000 outputs.
 */
const MAX_OUTPUTS = 50;

export interface BitcoinUsersOptions {
  readonly chain: Pick<UsersOptions["chain"], "vmType" | "bitcoin" | "depository">;
  readonly attestation: {
    readonly bitcoin?: { readonly esploraUrl?: string | undefined } | undefined;
  };
  /** ms since epoch. */
  now(): number;
}

export interface BitcoinUsers extends OpenNonEvmUsers {
  deposit(payment: UserDeposit): Promise<{ readonly data: BitcoinDepositData; readonly fee: bigint }>;
}

/**
 * The user's side of Bitcoin: their balance, including unconfirmed outputs, and the transaction for their
 * wallet to sign. It relies on the explorer alone, because a wrong answer only leads to a transaction that
 * the network rejects. Undefined without an explorer, which alone knows the unspent outputs of an address.
 */
export function connectBitcoinUsers({
  chain,
  attestation,
  now,
}: BitcoinUsersOptions): BitcoinUsers | undefined {
  const esploraUrl = attestation.bitcoin?.esploraUrl;
  if (chain.bitcoin === undefined || esploraUrl === undefined) return undefined;
  const { network } = chain.bitcoin;
  const depositoryAddress = formatAddress(chain, chain.depository);
  const explorer = createExplorer(esploraUrl);
  const client = createRestClient({ url: esploraUrl });
  const currentFeeRate = cachedFeeRate(explorer, [], now, maxFeeRate(chain));
  const depositoryScript = scriptOfAddress(chain.depository);

  const utxosOf = async (user: Hex) => {
    const address = decodeBitcoinAddress(network, user);
    return address === undefined ? [] : await explorer.outputsOf(address);
  };
  const sourceOf = async (txid: string): Promise<Uint8Array | undefined> => {
    const { status, text } = await client.get("tx", `/tx/${txid}/hex`);
    const bytes = status === 200 ? bytesIn(text.trim()) : undefined;
    return bytes !== undefined && readRawTransaction(bytes)?.txid === txid ? bytes : undefined;
  };

  return {
    balance: async (user, currency) =>
      currency === NATIVE ? (await utxosOf(user)).reduce((sum, { amount }) => sum + amount, 0n) : 0n,
    deposit: async ({ user, amount, orderId, to, publicKey }) => {
      const userScript = scriptOfAddress(user);
      const [listed, feeRate] = await Promise.all([utxosOf(user), currentFeeRate()]);
      const utxos = listed.toSorted(largestFirst).slice(0, MAX_OUTPUTS);
      const sources = new Map<string, Uint8Array>();
      if (inputKindOf(userScript) === "keyHash")
        for (const { txid } of utxos) {
          const source = await sourceOf(txid);
          if (source !== undefined) sources.set(txid, source);
        }
      const terms = {
        userScript,
        depositoryScript: to === undefined ? depositoryScript : scriptOfAddress(to),
        amount,
        opReturnText: to === undefined ? orderId : undefined,
        sources,
        rate: feeRate,
        publicKey: publicKey === undefined ? undefined : bytesIn(publicKey.replace(/^0x/, "")),
      };
      const spendable = (list: readonly ReportedOutput[]) => ({
        ...terms,
        utxos: list.map((utxo) => ({ ...utxo, script: userScript })),
      });
      // An unconfirmed transaction may be replaced, together with a deposit that spends it.
      const transaction =
        depositTransaction(spendable(utxos.filter(({ isConfirmed }) => isConfirmed))) ??
        depositTransaction(spendable(utxos));
      return {
        data: {
          // Wallets of existing clients expect hex.
          ...(transaction !== undefined && { psbt: Buffer.from(transaction.psbt, "base64").toString("hex") }),
          payment: {
            address: to === undefined ? depositoryAddress : formatAddress(chain, to),
            amount: amount.toString(),
            ...(to === undefined && {
              opReturn: orderId,
              opReturnHex: `0x${Buffer.from(orderId).toString("hex")}` as const,
            }),
          },
        },
        fee: transaction?.fee ?? typicalDepositFee(terms),
      };
    },
    close: async () => {
      await Promise.all([explorer.close(), client.close()]);
    },
  };
}

function largestFirst(a: ReportedOutput, b: ReportedOutput): number {
  return a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1;
}
