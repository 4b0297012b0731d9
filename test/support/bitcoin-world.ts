import { p2wpkh, Script, Transaction } from "@scure/btc-signer";
import { pubECDSA } from "@scure/btc-signer/utils.js";
import type { Hex, NonEvmChain } from "@causeway/domain";
import {
  canonicalAddress,
  decodeAddress,
  encodeBitcoinAddress,
  type ConfiguredChain,
} from "@causeway/families";
import { bitcoinAddress, type FundedOutput, type BitcoinControls } from "@causeway/simulators/bitcoin";

/** Address formats of Bitcoin Core's regtest network. */
export const REGTEST = { bech32: "bcrt", pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef } as const;
export const CONFIRMATIONS = 6;

/** An account on the regtest network whose key the tests have. */
export interface Owner {
  readonly key: Uint8Array;
  /** The address in the format of the network's wallets. */
  readonly address: string;
  /** The address in the format of orders and oracles. */
  readonly canonical: string;
  readonly bytes: Hex;
  readonly script: Uint8Array;
}

let owners = 0;

/** Creates a new account, so that no two tests share outputs. */
export function anOwner(): Owner {
  const key = new Uint8Array(32);
  key.set([0x11, ++owners >> 8, owners & 0xff], 29);
  const address = bitcoinAddress(key);
  const bytes = encodeBitcoinAddress("regtest", address);
  if (bytes === undefined) throw new Error(address);
  const canonical = canonicalAddress("bitcoin-vm", decodeAddress("bitcoin-vm", bytes));
  return { key, address, canonical, bytes, script: p2wpkh(pubECDSA(key)).script };
}

export type PaymentOutput =
  | { readonly to: Owner | string; readonly amount: bigint }
  | { readonly text: string }
  | { readonly script: Uint8Array; readonly amount: bigint };

export const FEE = 2_000n;

/**
 * A transaction that spends an owner's outputs and returns the change to the owner.
 * @param fee in satoshis
 */
export function spend(
  utxos: readonly (FundedOutput & { readonly owner: Owner })[],
  outputs: readonly PaymentOutput[],
  {
    fee = FEE,
    change = utxos[0]?.owner,
    signed = true,
  }: { fee?: bigint; change?: Owner | undefined; signed?: boolean } = {},
): Transaction {
  const tx = new Transaction({ allowUnknownOutputs: true });
  let changeAmount = -fee;
  for (const { txid, vout, amount, owner } of utxos) {
    tx.addInput({ txid, index: vout, sequence: 0xfffffffd, witnessUtxo: { script: owner.script, amount } });
    changeAmount += amount;
  }
  for (const output of outputs) {
    if ("text" in output)
      tx.addOutput({ script: Script.encode(["RETURN", new TextEncoder().encode(output.text)]), amount: 0n });
    else {
      changeAmount -= output.amount;
      if ("script" in output) tx.addOutput(output);
      else if (typeof output.to === "string") tx.addOutputAddress(output.to, output.amount, REGTEST);
      else tx.addOutput({ script: output.to.script, amount: output.amount });
    }
  }
  if (changeAmount > 600n && change !== undefined)
    tx.addOutput({ script: change.script, amount: changeAmount });
  if (!signed) return tx;
  for (const key of new Set(utxos.map(({ owner }) => owner.key))) tx.sign(key);
  tx.finalize();
  return tx;
}

/** Mines a new output for an owner. */
export async function utxoOf(
  controls: BitcoinControls,
  owner: Owner,
  amount: bigint,
): Promise<FundedOutput & { readonly owner: Owner }> {
  return { ...(await controls.fund(owner.address, amount)), owner };
}

/** The chain's configuration for an oracle. */
export function anAttestationChain(
  urls: { readonly rpcUrls: readonly string[]; readonly esploraUrl: string | undefined },
  depository: Owner,
  more: Partial<ConfiguredChain> = {},
): ConfiguredChain {
  return {
    name: "bitcoin",
    vmType: "bitcoin-vm",
    rpcUrls: urls.rpcUrls,
    rpcQuorum: 1,
    depository: depository.canonical,
    additionalDepositories: [],
    hubChainId: "8253038",
    evm: undefined,
    bitcoin: {
      network: "regtest",
      confirmations: CONFIRMATIONS,
      blockTimeSeconds: 600,
      esploraUrl: urls.esploraUrl,
    },
    ...more,
  };
}

/** The chain's configuration, as far as the adapter reads it. */
export function aNonEvmChain(depository: Owner): NonEvmChain {
  return { blockTimeSeconds: 1, depository: depository.bytes, confirmations: CONFIRMATIONS } as NonEvmChain;
}
