import type { Address } from "@causeway/domain";
import type { ConnectedChain, ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { SlotPlan } from "../../db/records.port.ts";
import type { LaneWrites } from "../../db/unit-of-work.port.ts";
import { sentTogether } from "../../db/sent-together.ts";
import type { LaneFunds } from "./funds.port.ts";

/** The solver's account on an EVM chain. */
export function solverFunds({ chain, pulse }: ConnectedChain, sender: Address): LaneFunds {
  return {
    chainId: chain.id,
    sender,
    native: chain.native.address,
    balance: (currency) => pulse.solverBalance(currency),
  };
}

/** An executor or operator account on an EVM chain: it holds only native tokens. */
export function gasFunds({ chain, pulse }: ConnectedChain, sender: Address): LaneFunds {
  const native = chain.native.address;
  return {
    chainId: chain.id,
    sender,
    native,
    balance(currency) {
      if (currency !== native) throw new RangeError(`account ${sender} holds no ${currency}`);
      return pulse.gasBalance(sender);
    },
  };
}

/** Lower than any block in the database. */
const NO_BLOCK = -1n;

/** The solver's account on a non-EVM chain. Its mined payments count until final: balances may omit them. */
export function transferFunds({ chain, connection, pulse }: ConnectedNonEvmChain): LaneFunds {
  return {
    chainId: chain.id,
    sender: connection.solver,
    native: chain.native.address,
    balance: (currency) => ({ amount: pulse.solverBalance(currency).amount, blockNumber: NO_BLOCK }),
  };
}

/** Pending amounts that the balance in a currency, as read at a block, does not include yet. Base units. */
export interface Reserved {
  readonly currency: Address;
  readonly blockNumber: bigint;
  readonly amount: bigint;
  readonly gasWei: bigint;
}

type ReservingTx = { readonly lanes: Pick<LaneWrites, "reserved"> };

async function reservedOf(
  tx: ReservingTx,
  { chainId, sender }: LaneFunds,
  currency: Address,
  blockNumber: bigint,
): Promise<Reserved> {
  return { currency, blockNumber, ...(await tx.lanes.reserved(chainId, sender, currency, blockNumber)) };
}

/** Reads in one round trip what {@link covers} needs for these payments. Use with the lane locked. */
export async function reservedFor(
  tx: ReservingTx,
  funds: LaneFunds,
  plans: readonly SlotPlan[],
): Promise<readonly Reserved[]> {
  const currencies = new Set([funds.native, ...plans.map(({ outflow }) => outflow.currency)]);
  return await sentTogether(
    [...currencies].map(
      async (currency) => await reservedOf(tx, funds, currency, funds.balance(currency).blockNumber),
    ),
  );
}

/**
 * Decides which payments a lane can still pay, one after another: from its balances minus everything that
 * they do not show yet. Use with the lane locked, so that no other payment slips in.
 * @returns takes the amounts of a payment and its gas; false, and nothing is taken, if they are not covered.
 * A payment without gas would block its whole lane.
 * @param known rows that were read with the lane locked; missing ones are read
 */
export function covers(
  tx: ReservingTx,
  funds: LaneFunds,
  known: readonly Reserved[] = [],
): (plan: SlotPlan) => Promise<boolean> {
  const { native, balance } = funds;
  const left = new Map<Address, bigint>();
  /** Reserved for gas and the native tokens that payments in tokens carry. */
  let costs = 0n;
  const leftOf = async (currency: Address): Promise<bigint> => {
    const before = left.get(currency);
    if (before !== undefined) return before;
    // A newer balance shows more of what was pending.
    const held = balance(currency);
    const read = known.find((one) => one.currency === currency && one.blockNumber === held.blockNumber);
    const { amount, gasWei } = read ?? (await reservedOf(tx, funds, currency, held.blockNumber));
    if (currency === native) costs = gasWei;
    const free = held.amount - amount - (currency === native ? gasWei : 0n);
    left.set(currency, free);
    return free;
  };
  return async ({ outflow: { currency, amount }, call, gasLimit, maxFeePerGas }) => {
    const isNative = currency === native;
    const cost = gasLimit * maxFeePerGas + (isNative ? 0n : call.value);
    const nativeLeft = (await leftOf(native)) - cost - (isNative ? amount : 0n);
    // Where payments cost nothing, payments in tokens need no native tokens.
    if (nativeLeft < 0n && (isNative || costs + cost > 0n)) return false;
    if (!isNative) {
      const tokensLeft = (await leftOf(currency)) - amount;
      if (tokensLeft < 0n) return false;
      left.set(currency, tokensLeft);
    }
    left.set(native, nativeLeft);
    costs += cost;
    return true;
  };
}
