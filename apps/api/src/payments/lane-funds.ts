import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { SlotPlan } from "../db/records.port.ts";
import type { LaneWrites } from "../db/unit-of-work.port.ts";

/** What the solver can still pay from one lane. */
export interface LaneFunds {
  /**
   * Takes what a payment and its gas may use; false, and nothing is taken, if that is not there. A payment
   * without gas would block its whole lane.
   */
  take(plan: SlotPlan): Promise<boolean>;
}

/**
 * The solver's balances minus everything that they do not show yet. Use with the lane locked, so that no
 * other payment slips in.
 */
export function laneFunds(
  tx: { readonly lanes: Pick<LaneWrites, "reserved"> },
  { chain, pulse }: ConnectedChain,
  sender: Address,
): LaneFunds {
  const left = new Map<Address, bigint>();
  const leftOf = async (currency: Address): Promise<bigint> => {
    const known = left.get(currency);
    if (known !== undefined) return known;
    const held = pulse.solverBalance(currency);
    const { amount, gasWei } = await tx.lanes.reserved(chain.id, sender, currency, held.blockNumber);
    const free = held.amount - amount - (currency === NATIVE_CURRENCY ? gasWei : 0n);
    left.set(currency, free);
    return free;
  };
  return {
    async take({ outflow: { currency, amount }, call, gasLimit, maxFeePerGas }) {
      // A payment in a token may carry native tokens for calls.
      const inNative = currency === NATIVE_CURRENCY ? amount : call.value;
      const native = (await leftOf(NATIVE_CURRENCY)) - inNative - gasLimit * maxFeePerGas;
      if (native < 0n) return false;
      if (currency !== NATIVE_CURRENCY) {
        const tokens = (await leftOf(currency)) - amount;
        if (tokens < 0n) return false;
        left.set(currency, tokens);
      }
      left.set(NATIVE_CURRENCY, native);
      return true;
    },
  };
}
