import type { ConnectedChain } from "../chains/chains.port.ts";
import { type TransitionServices, transitionAll } from "../requests/index.ts";
import { isBasisOf } from "./fill-basis.ts";
import type { FillPlan, SendFill } from "./fill-lane.port.ts";
import { inLaneBatches, payTogether } from "./lane-batches.ts";
import { solverFunds } from "./payers/covers.ts";
import type { LegKindToPay, Sent } from "./reserve.port.ts";
import type { SendServices } from "./send-together.ts";

/** The next batch reserves its nonces while this one is broadcast. More would wait for the lane's row. */
const IN_FLIGHT = 2;

/** Sends simultaneous fills of one chain together. */
export function groupedFills(services: SendServices): SendFill {
  return inLaneBatches(
    (connected, fills: readonly FillPlan[]) => sendFills(services, connected, fills),
    IN_FLIGHT,
  );
}

/** {@link payTogether} for fills that reserve nothing but a nonce. */
export async function sendFills(
  services: SendServices,
  connected: ConnectedChain,
  fills: readonly FillPlan[],
): Promise<ReadonlyArray<Sent | Error>> {
  const funds = solverFunds(connected, services.signer.address);
  return await payTogether(services, connected, funds, plainFills(services, connected.chain), fills);
}

/** Moves the requests of fills in the commit that reserves their slots. */
export function plainFills(
  services: TransitionServices,
  chain: { readonly name: string },
): LegKindToPay<FillPlan> {
  return {
    due: async (_, fills, requests) =>
      fills.map(({ requestId, basis }) => {
        const request = requests.get(requestId);
        return request !== undefined && isBasisOf(basis, request.state) ? "due" : "moved";
      }),
    async taken(tx, taken) {
      await transitionAll(
        services,
        tx,
        taken.flatMap(({ wanted: { amount }, slot: { nonce }, request: record }) =>
          record === undefined
            ? []
            : { record, event: { kind: "fillPlanned" } as const, facts: { nonce, amount } },
        ),
      );
      for (const { wanted, slot } of taken)
        tx.events.happened("fill_planned", {
          requestId: wanted.requestId,
          chain: chain.name,
          amount: wanted.amount,
          fast: wanted.basis.kind === "front",
          tookMs: slot.createdAtMs - wanted.basis.sinceMs,
        });
      return undefined;
    },
  };
}
