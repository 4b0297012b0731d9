import type { Address, RequestTerms } from "@causeway/domain";
import type { LaneState } from "../db/reads.port.ts";
import type { Services } from "../db/services.port.ts";
import { connectedChainOf, perKind } from "../http/connected-chain.ts";

const HELD =
  "the database server was replaced and may have lost payments of this lane: it pays nothing until it has been compared with its chain";
const NEW_SERVER = "the database server was replaced or restarted less than a minute ago";

/** Like {@link whyHeld}, for a lane whose row was read already. */
export function whyLaneHeld({ isReconciled, isServerNew }: LaneState): string | undefined {
  if (!isReconciled) return HELD;
  return isServerNew ? NEW_SERVER : undefined;
}

/**
 * Why a lane must not pay because a failover or a restored backup may have lost its last payments. Reads only
 * the database. Undefined: nothing there forbids payments.
 */
export async function whyHeld(
  { reads }: Pick<Services, "reads">,
  chainId: number,
  sender: Address,
): Promise<string | undefined> {
  const lane = await reads.lane(chainId, sender);
  return lane && whyLaneHeld(lane);
}

/**
 * Why a deposit must not be refunded: a held lane could have paid its fill. These are the solver's lane and
 * the lane of the configured former key that signed the order. Reads only the database, so that refunds on
 * one chain do not wait for a node of another.
 */
export async function whyFillHeld(
  services: Pick<Services, "reads" | "chains" | "signer" | "formerSigners">,
  { destination: { chainId }, order }: Pick<RequestTerms, "destination" | "order">,
): Promise<string | undefined> {
  const { chains, signer, formerSigners } = services;
  const connected = connectedChainOf(chains, chainId);
  if (connected === undefined) return undefined;
  const payers = await perKind(connected, {
    evm: async () => [
      signer.address,
      ...formerSigners.flatMap(({ address }) => (address === order.solver ? address : [])),
    ],
    nonEvm: async ({ connection }) => [connection.solver],
  });
  for (const payer of payers) {
    const why = await whyHeld(services, chainId, payer);
    if (why !== undefined) return `the fill may have been paid on ${connected.chain.name}: ${why}`;
  }
  return undefined;
}

/** The accounts that pay for the service now, on every chain. */
export function payingAccounts({ chains, signer }: Pick<Services, "chains" | "signer">): readonly Address[] {
  return [signer.address, ...chains.nonEvmChains.map(({ connection }) => connection.solver)];
}
