import { connectedChainOf } from "../http/connected-chain.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { DONE, type Progress } from "../db/wait.ts";
import type { DueLeg, LegKind, Stopped } from "./legs/leg-kind.ts";
import type { PaymentOutcome, WantedPayment } from "./wanted-payment.port.ts";
import { limitJobs } from "./non-evm/limit-jobs.ts";
import { payTogether } from "./pay-together.ts";
import { isHeld, releaseHeld, waitOf } from "./policy/held-payments.ts";
import { sendSlot } from "./send-slots.ts";

/**
 * Pays a leg: plans it, reserves a slot in the commit that updates the leg, then sends. Idempotent in any
 * number of processes: the leg's lock and its one live slot allow one payment.
 * @throws RpcFault, ServiceError (prices): nothing was decided, the job retries
 */
export async function pay(services: WorkerServices, kind: LegKind, id: string): Promise<Progress> {
  const leg = await kind.read(services, id);
  if (leg === undefined) return DONE;
  const { chainId, slot } = leg;
  const connected = chainId === undefined ? undefined : connectedChainOf(services.chains, chainId);
  return await limitJobs(connected, kind.name, async () => {
    if (slot !== undefined) {
      // A process died between reserving the slot and sending: the bytes are, or will be, the same.
      await sendSlot(services, slot);
      return DONE;
    }
    const planned = await kind.plan(services, leg);
    const stopped = "plan" in planned ? await reserveAndSend(services, kind, leg, planned) : planned;
    if (!("giveUp" in stopped)) return stopped;
    await releaseHeld(services, kind, id);
    return await kind.giveUp(services, leg, stopped.giveUp);
  });
}

async function reserveAndSend(
  services: WorkerServices,
  kind: LegKind,
  leg: DueLeg,
  wanted: WantedPayment,
): Promise<Stopped<unknown>> {
  const outcome =
    kind.batching?.canBatch(wanted) === true && services.payTogether !== undefined
      ? await services.payTogether(wanted)
      : await payAlone(services, kind, wanted);
  // The commit that the leg was derived from may have been rolled back, or a later one changed the leg.
  if (outcome === "moved" && leg.isAssumed === true) return await pay(services, kind, wanted.plan.leg.id);
  if (outcome === "sent" || outcome === "moved") return DONE;
  if (isHeld(outcome)) return { waitMs: waitOf(outcome), why: outcome.why };
  if (kind.notReserved !== undefined) return await kind.notReserved(services, leg, outcome);
  return { waitMs: 5_000, why: `the solver's inventory does not cover the ${kind.name}` };
}

async function payAlone(
  services: WorkerServices,
  kind: LegKind,
  wanted: WantedPayment,
): Promise<PaymentOutcome> {
  const [outcome = "moved"] = await payTogether(services, kind, [wanted]);
  if (outcome instanceof Error) throw outcome;
  return outcome;
}
