import type { Address } from "@causeway/domain";
import type { ConnectedChain, ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { SlotPlan } from "../../db/records.port.ts";
import type { LaneWrites } from "../../db/unit-of-work.port.ts";
import { awaitTogether } from "../../db/await-together.ts";
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

/**
 * The solver's account on a non-EVM chain. Its mined payments stay reserved until they are final, because the
 * balance may not include them yet.
 */
export function transferFunds({ chain, connection, pulse }: ConnectedNonEvmChain): LaneFunds {
  return {
    chainId: chain.id,
    sender: connection.solver,
    native: chain.native.address,
    balance: (currency) => ({ amount: pulse.solverBalance(currency).amount, blockNumber: NO_BLOCK }),
  };
}

/** Amounts of payments that are not deducted yet from a currency's balance at a block, base units. */
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
  return await awaitTogether(
    [...currencies].map(
      async (currency) => await reservedOf(tx, funds, currency, funds.balance(currency).blockNumber),
    ),
  );
}

/**
 * Decides which payments a lane can still pay, one after another, from its balances minus all payments that
 * are not deducted from them yet. Use with the lane locked, so that no other payment slips in.
 * @param reservedRows rows that were read with the lane locked; missing ones are read
 * @returns a function that reserves a payment's amount and gas. It returns false, and reserves nothing, if
 * the lane lacks either: a payment that cannot pay its gas would block the whole lane
 */
export function covers(
  tx: ReservingTx,
  funds: LaneFunds,
  reservedRows: readonly Reserved[] = [],
): (plan: SlotPlan) => Promise<boolean> {
  const { native, balance } = funds;
  const remaining = new Map<Address, bigint>();
  /** Reserved for gas and the native tokens that payments in tokens carry. */
  let costs = 0n;
  const remainingOf = async (currency: Address): Promise<bigint> => {
    const cached = remaining.get(currency);
    if (cached !== undefined) return cached;
    // Rows of another block do not fit: a newer balance already includes more payments.
    const current = balance(currency);
    const stored = reservedRows.find(
      (row) => row.currency === currency && row.blockNumber === current.blockNumber,
    );
    const { amount, gasWei } = stored ?? (await reservedOf(tx, funds, currency, current.blockNumber));
    if (currency === native) costs = gasWei;
    const free = current.amount - amount - (currency === native ? gasWei : 0n);
    remaining.set(currency, free);
    return free;
  };
  return async ({ outflow: { currency, amount }, call, gasLimit, maxFeePerGas }) => {
    const isNative = currency === native;
    const cost = gasLimit * maxFeePerGas + (isNative ? 0n : call.value);
    const nativeLeft = (await remainingOf(native)) - cost - (isNative ? amount : 0n);
    // On a chain without transaction costs, token payments need no native tokens.
    if (nativeLeft < 0n && (isNative || costs + cost > 0n)) return false;
    if (!isNative) {
      const tokensLeft = (await remainingOf(currency)) - amount;
      if (tokensLeft < 0n) return false;
      remaining.set(currency, tokensLeft);
    }
    remaining.set(native, nativeLeft);
    costs += cost;
    return true;
  };
}
