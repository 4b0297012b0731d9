import { encodeHubAction, hubAlias, hubTokenId, orderAddress } from "@causeway/attest";
import type { Hex } from "@causeway/domain";
import type { AttestedChains } from "../ports/attested-chains.ts";
import { knownChain } from "./known-chain.ts";
import type { SignedOrder } from "./read-order.ts";
import type { SettledInput } from "./settled-inputs.ts";

/** Moves each whole deposit from its order's account to the solver, in the order of the inputs. */
export function depositsToSolver(signed: SignedOrder, inputs: readonly SettledInput[]): readonly Hex[] {
  const solver = hubAlias(signed.solverChain, signed.order.solver);
  return inputs.map(({ chain, deposit, timestamp }) =>
    encodeHubAction({
      kind: "transfer",
      from: orderAddress(chain, { depositor: deposit.depositor, timestamp, depositId: signed.orderId }),
      to: solver,
      tokenId: hubTokenId(chain, deposit.currency),
      amount: deposit.amount,
    }),
  );
}

/** Pays the order's fees from the solver's account. */
export function feesFromSolver(
  chains: AttestedChains,
  { json, order, solverChain }: SignedOrder,
): readonly Hex[] {
  const solver = hubAlias(solverChain, order.solver);
  return json.fees.map((fee, i) => {
    const recipientChain = knownChain(
      chains,
      fee.recipientChainId,
      `order.fees[${i}].recipientChainId`,
    ).chain;
    const currencyChain = knownChain(chains, fee.currencyChainId, `order.fees[${i}].currencyChainId`).chain;
    return encodeHubAction({
      kind: "transfer",
      from: solver,
      to: hubAlias(recipientChain, fee.recipient),
      tokenId: hubTokenId(currencyChain, fee.currency),
      amount: BigInt(fee.amount),
    });
  });
}
