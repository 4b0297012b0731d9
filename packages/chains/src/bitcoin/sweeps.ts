import type { Hex, Hex32 } from "@causeway/domain";
import { encodeAddress, inconsistent, nativeCurrency, RpcFault } from "@causeway/families";
import {
  scriptOfAddress,
  type BitcoinFacts,
  type BitcoinOutput,
  type BitcoinTransaction,
} from "@causeway/families/bitcoin";
import {
  InsufficientInventory,
  type AddressBalances,
  type AddressToRead,
  type NonEvmAttempt,
  type NonEvmDepositAddresses,
  type NonEvmPayment,
} from "../non-evm-connection.ts";
import type { AddressListing } from "./address-listing.ts";
import {
  selectForSweep,
  createAddressOutputs,
  transactionOf,
  type UnspentOutput,
} from "./address-outputs.ts";
import { depositKeys } from "./deposit-keys.ts";
import { isUnlockedBy } from "./payment-transaction.ts";
import { outpointKey, type EarlierAttempt } from "./replacement.ts";
import type { BitcoinReads } from "./rpc.ts";
import { dustLimit } from "./sizes-and-dust.ts";

const NATIVE = encodeAddress("bitcoin-vm", nativeCurrency("bitcoin-vm"));
/** Maximum addresses whose outputs are read concurrently. */
const MAX_CONCURRENT_ADDRESSES = 8;

/** The private keys that sign on this chain. */
export interface SigningKeys {
  readonly solver: Uint8Array;
  /** The key of an order's deposit address. Undefined: deposit addresses are not enabled. */
  readonly ofDepositAddress: ((orderId: Hex32) => Uint8Array) | undefined;
}

/** An earlier attempt; `inputs` contains the solver's inputs. */
export interface SignedAttempt extends EarlierAttempt {
  /** Inputs of deposit addresses. */
  readonly swept: readonly Pick<UnspentOutput, "txid" | "vout">[];
}

/** The parts that a deposit address adds to a transaction. */
export interface SweepParts {
  readonly spent: readonly UnspentOutput[];
  readonly keys: readonly Uint8Array[];
  /** The change to the address, if it is enough for an output. */
  readonly outputs: readonly BitcoinOutput[];
  /** Change in satoshis that is too small for an output and is added to the fee. */
  readonly dust: bigint;
}

const NO_SWEEP: SweepParts = { spent: [], keys: [], outputs: [], dust: 0n };

/** Sweeps of deposit addresses, as parts of the solver's transactions. */
export interface Sweeps {
  /** Undefined: deposit addresses are not enabled. */
  readonly addresses: NonEvmDepositAddresses | undefined;
  /**
   * The inputs that the deposit address of a payment provides: those of an earlier attempt, if there is one.
   * Empty for other payments.
   * @param reservedKeys outpoint keys of outputs that other payments spend
   * @throws RpcFault, InsufficientInventory
   */
  sweepPartsOf(
    payment: NonEvmPayment,
    earlierAttempts: readonly SignedAttempt[],
    reservedKeys: ReadonlySet<string>,
    signing: SigningKeys,
  ): Promise<SweepParts>;
}

export function createSweeps(
  facts: BitcoinFacts,
  extendedKey: string | undefined,
  { reads, listing }: { readonly reads: BitcoinReads; readonly listing: AddressListing },
): Sweeps {
  const unspent = createAddressOutputs(facts, reads, listing);
  const keys = extendedKey === undefined ? undefined : depositKeys(facts.network, extendedKey);
  const newest = async () => {
    const { height, hash } = await reads.newest();
    return { number: BigInt(height), hash: `0x${hash}` satisfies Hex };
  };
  const heldAt = async (addresses: readonly AddressToRead[]): Promise<AddressBalances> => {
    const tip = await newest();
    const held: AddressBalances["balances"][number][] = [];
    for (let start = 0; start < addresses.length; start += MAX_CONCURRENT_ADDRESSES)
      held.push(
        ...(await Promise.all(
          addresses.slice(start, start + MAX_CONCURRENT_ADDRESSES).map(async ({ address, sweeps }) => {
            // If the explorer refuses one address, the others must still be read.
            const amount = await unspent.balance(scriptOfAddress(address), sweeps).catch((error: unknown) => {
              if (error instanceof RpcFault) return undefined;
              throw error;
            });
            return { account: address, currency: NATIVE, amount };
          }),
        )),
      );
    if ((await newest()).hash !== tip.hash)
      throw inconsistent("getbestblockhash", "a block arrived while deposit addresses were read");
    return { atBlock: tip.number, balances: held };
  };
  return {
    addresses: keys && {
      kind: "keys",
      addressOf: ({ id }) => keys.addressOf(id),
      // A sweep usually adds one input and one output to a payment, less than half of its size.
      sweepCost: (paymentCost) => (paymentCost * 3n) / 2n,
      newest,
      balances: async (addresses) => await heldAt(addresses),
      sweepable: async ({ id }, _, reserved) => {
        const reservedKeys = spentBy(reserved);
        const available = (await unspent.spendable(keys.scriptOf(id))).filter(
          (utxo) => !reservedKeys.has(outpointKey(utxo)),
        );
        return sumOf(available);
      },
    },
    sweepPartsOf: async ({ sweeps, amount }, earlierAttempts, reservedKeys, { ofDepositAddress }) => {
      if (sweeps === undefined) return NO_SWEEP;
      if (keys === undefined || ofDepositAddress === undefined)
        throw new InsufficientInventory("deposit addresses of this chain are not enabled");
      const script = keys.scriptOf(sweeps.key.id);
      const earlierSwept = earlierAttempts.findLast(({ swept }) => swept.length > 0)?.swept;
      const findAvailable = async (): Promise<readonly UnspentOutput[]> =>
        (await unspent.spendable(script)).filter((utxo) => !reservedKeys.has(outpointKey(utxo)));
      const selected =
        earlierSwept === undefined
          ? selectForSweep(await findAvailable(), amount)
          : await Promise.all(
              earlierSwept.map(async (outpoint) => await unspent.unspentInChain(script, outpoint)),
            );
      const spent = selected?.filter((utxo) => utxo !== undefined);
      if (spent === undefined || spent.length !== selected?.length)
        throw new InsufficientInventory("the payments to the deposit address are not in the chain");
      const change = sumOf(spent) - amount;
      const hasChange = change >= dustLimit(script);
      return {
        spent,
        keys: [ofDepositAddress(sweeps.key.id)],
        outputs: hasChange ? [{ script, amount: change }] : [],
        dust: hasChange ? 0n : change,
      };
    },
  };
}

/** Outpoint keys (`txid:vout`) of the outputs that transactions spend. */
export function spentBy(raws: readonly Hex[]): ReadonlySet<string> {
  return new Set(raws.flatMap((raw) => transactionOf(raw).inputs.map(outpointKey)));
}

/** Inputs that spend outputs of the solver. All attempts of a payment share at least one of them. */
export function ownInputs(
  { inputs, unlocking }: BitcoinTransaction,
  ownScript: string,
): BitcoinTransaction["inputs"] {
  return inputs.filter((_, index) => isUnlockedBy(unlocking[index] ?? { witness: [] }, ownScript));
}

/**
 * The attempt that is to be replaced. Replacements share the solver's inputs, because those of a deposit
 * address may disappear in a reorg.
 */
export function signedAttempt({ raw, fee }: NonEvmAttempt, ownScript: string): SignedAttempt {
  const transaction = transactionOf(raw);
  const { txid, vsize } = transaction;
  const inputs = ownInputs(transaction, ownScript);
  const swept = transaction.inputs.filter((input) => !inputs.includes(input));
  return { swept, txid, inputs, vsize, fee };
}

function sumOf(unspent: readonly Pick<UnspentOutput, "amount">[]): bigint {
  return unspent.reduce((sum, { amount }) => sum + amount, 0n);
}
