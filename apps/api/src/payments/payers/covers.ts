import type { Address } from "@causeway/domain";
import type { ConnectedChain, ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { SlotPlan } from "../../db/records.port.ts";
import type { LaneWrites } from "../../db/unit-of-work.port.ts";
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

/**
 * Decides which payments a lane can still pay, one after another: from its balances minus everything that
 * they do not show yet. Use with the lane locked, so that no other payment slips in.
 * @returns takes what a payment and its gas may use; false, and nothing is taken, if that is not there. A
 * payment without gas would block its whole lane.
 */
export function covers(
  tx: { readonly lanes: Pick<LaneWrites, "reserved"> },
  { chainId, sender, native, balance }: LaneFunds,
): (plan: SlotPlan) => Promise<boolean> {
  const left = new Map<Address, bigint>();
  /** Reserved for gas and the native tokens that payments in tokens carry. */
  let costs = 0n;
  const leftOf = async (currency: Address): Promise<bigint> => {
    const known = left.get(currency);
    if (known !== undefined) return known;
    const held = balance(currency);
    const { amount, gasWei } = await tx.lanes.reserved(chainId, sender, currency, held.blockNumber);
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
