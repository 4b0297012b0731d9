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
import { outputsFor, createAddressOutputs, transactionOf, type UnspentOutput } from "./address-outputs.ts";
import { depositKeys } from "./deposit-keys.ts";
import { isUnlockedBy } from "./payment-transaction.ts";
import { keyOf, type FormerAttempt } from "./replacement.ts";
import type { BitcoinReads } from "./rpc.ts";
import { dustLimit } from "./sizes-and-dust.ts";

const NATIVE = encodeAddress("bitcoin-vm", nativeCurrency("bitcoin-vm"));
/** Maximum addresses whose outputs are read concurrently. */
const AT_ONCE = 8;

/** The keys of this chain. */
export interface SigningKeys {
  readonly ofSolver: Uint8Array;
  /** The key of an order's deposit address. Undefined: deposit addresses are not enabled. */
  readonly ofAddress: ((orderId: Hex32) => Uint8Array) | undefined;
}

/** An earlier attempt; `inputs` contains the solver's inputs. */
export interface SignedAttempt extends FormerAttempt {
  /** Inputs of deposit addresses. */
  readonly swept: readonly Pick<UnspentOutput, "txid" | "vout">[];
}

/** The parts that a deposit address adds to a transaction. */
export interface Swept {
  readonly spent: readonly UnspentOutput[];
  readonly keys: readonly Uint8Array[];
  /** The change to the address, if it is enough for an output. */
  readonly outputs: readonly BitcoinOutput[];
  /** Satoshis that are too few for an output and are added to the fee. */
  readonly lost: bigint;
}

const NOTHING_SWEPT: Swept = { spent: [], keys: [], outputs: [], lost: 0n };

/** Sweeps of deposit addresses, as parts of the solver's transactions. */
export interface Sweeps {
  /** Undefined: deposit addresses are not enabled. */
  readonly addresses: NonEvmDepositAddresses | undefined;
  /**
   * The inputs that the deposit address of a payment provides: those of an earlier attempt, if there is one.
   * Empty for other payments.
   * @param taken keys of outputs that other payments spend
   * @throws RpcFault, InsufficientInventory
   */
  sweptFor(
    payment: NonEvmPayment,
    before: readonly SignedAttempt[],
    taken: ReadonlySet<string>,
    signing: SigningKeys,
  ): Promise<Swept>;
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
    const held: AddressBalances["held"][number][] = [];
    for (let at = 0; at < addresses.length; at += AT_ONCE)
      held.push(
        ...(await Promise.all(
          addresses.slice(at, at + AT_ONCE).map(async ({ address, sweeps }) => {
            // If the explorer refuses one address, the others must still be read.
            const amount = await unspent.held(scriptOfAddress(address), sweeps).catch((error: unknown) => {
              if (error instanceof RpcFault) return undefined;
              throw error;
            });
            return { account: address, currency: NATIVE, amount };
          }),
        )),
      );
    if ((await newest()).hash !== tip.hash)
      throw inconsistent("getbestblockhash", "a block arrived while deposit addresses were read");
    return { atBlock: tip.number, held };
  };
  return {
    addresses: keys && {
      kind: "keys",
      addressOf: ({ id }) => keys.addressOf(id),
      // The size of a payment plus one input and one output of the address.
      sweepCost: (paymentCost) => (paymentCost * 3n) / 2n,
      newest,
      held: async (addresses) => await heldAt(addresses),
      sweepable: async ({ id }, _, reserved) => {
        const taken = spentBy(reserved);
        const free = (await unspent.spendable(keys.scriptOf(id))).filter((one) => !taken.has(keyOf(one)));
        return sumOf(free);
      },
    },
    sweptFor: async ({ sweeps, amount }, before, taken, { ofAddress }) => {
      if (sweeps === undefined) return NOTHING_SWEPT;
      if (keys === undefined || ofAddress === undefined)
        throw new InsufficientInventory("deposit addresses of this chain are not enabled");
      const script = keys.scriptOf(sweeps.key.id);
      const earlier = before.findLast(({ swept }) => swept.length > 0)?.swept;
      const free = async (): Promise<readonly UnspentOutput[]> =>
        (await unspent.spendable(script)).filter((one) => !taken.has(keyOf(one)));
      const chosen =
        earlier === undefined
          ? outputsFor(await free(), amount)
          : await Promise.all(earlier.map(async (place) => await unspent.inChain(script, place)));
      const found = chosen?.filter((one) => one !== undefined);
      if (found === undefined || found.length !== chosen?.length)
        throw new InsufficientInventory("the payments to the deposit address are not in the chain");
      const rest = sumOf(found) - amount;
      const isEnough = rest >= dustLimit(script);
      return {
        spent: found,
        keys: [ofAddress(sweeps.key.id)],
        outputs: isEnough ? [{ script, amount: rest }] : [],
        lost: isEnough ? 0n : rest,
      };
    },
  };
}

/** Keys of the outputs that transactions spend. */
export function spentBy(raws: readonly Hex[]): ReadonlySet<string> {
  return new Set(raws.flatMap((raw) => transactionOf(raw).inputs.map(keyOf)));
}

/** Inputs that spend outputs of the solver. All attempts of a payment share one of them. */
export function ownInputs(
  { inputs, unlocking }: BitcoinTransaction,
  ownScript: string,
): BitcoinTransaction["inputs"] {
  return inputs.filter((_, at) => isUnlockedBy(unlocking[at] ?? { witness: [] }, ownScript));
}

/**
 * An attempt to replace. Replacements share the solver's inputs, because those of a deposit address may
 * disappear in a reorg.
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
