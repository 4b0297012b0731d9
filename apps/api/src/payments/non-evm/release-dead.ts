import { RpcFault } from "@causeway/chains";
import type { TransferChain } from "../../chains/chains.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { forgeryIn } from "../check-entry.ts";
import type { NonceUser } from "../nonce-user.port.ts";
import type { JournalEntry } from "../payment-journal.port.ts";
import { nonEvmAttemptOf, paymentOf } from "./attempt-of.ts";

/** Nonces below the lane's next one that the journal may still have. */
const KEPT = 512;

/**
 * Releases what lost payments were for, if they were given up because their rows could not be restored, and
 * the chain shows that none of their bytes can count. Until then it is neither paid nor refunded.
 * @param nextNonce of the solver's lane
 */
export async function releaseDead(
  services: WorkerServices,
  connected: TransferChain,
  nextNonce: number,
): Promise<void> {
  const { reads, journal, uow, events } = services;
  const { chain, connection } = connected;
  const lane = { chainId: chain.id, sender: connection.solver };
  if (journal === undefined) return;
  const from = Math.max(0, nextNonce - KEPT);
  const users = [...(await reads.nonceUsers(chain.id, connection.solver, from, nextNonce))].filter(
    ([, { pays }]) => pays !== undefined,
  );
  if (users.length === 0) return;
  try {
    const entries = new Map(
      (await journal.entries(chain.id, connection.solver)).map((entry) => [entry.nonce, entry]),
    );
    for (const [nonce, user] of users) {
      const entry = entries.get(nonce);
      if (entry === undefined || !(await isDead(services, connected, entry, user))) continue;
      const { txHash, pays } = user;
      await uow.run(async (tx) => {
        await tx.lanes.noteNonceUser(chain.id, connection.solver, nonce, { txHash, pays: undefined });
        tx.events.happened("lost_payment_dead", { chain: chain.name, nonce, txHash, requestId: pays });
      });
    }
  } catch (error) {
    // Asked again in the next round.
    events.fault(error instanceof RpcFault ? "chain_fault" : "journal_fault", error, {
      chain: chain.name,
      ...lane,
    });
  }
}

/**
 * Whether no bytes of a lost payment can count. Any client that can write to Redis can change its entry: only
 * the hash of the newest bytes is known otherwise.
 */
async function isDead(
  services: WorkerServices,
  { chain, connection }: TransferChain,
  entry: JournalEntry,
  { txHash, pays }: NonceUser,
): Promise<boolean> {
  const { attempts, plan } = entry;
  if (attempts.at(-1)?.txHash !== txHash) return false;
  if ((await forgeryIn(services, { chainId: chain.id, sender: connection.solver }, entry)) !== undefined)
    return false;
  const { requestId } = plan.leg;
  const request = requestId === pays && requestId && (await services.reads.status(requestId));
  // Without its request, it may be of any age.
  const notBeforeMs = request ? request.createdAtMs : 0;
  const lost = { payment: paymentOf(plan, "pay"), notBeforeMs };
  // Where attempts conflict, the newest one conflicts with all of them, listed or not.
  const decisive = connection.canReplace ? attempts.slice(-1) : attempts;
  const outcomes = await Promise.all(
    decisive.map(async (attempt) => await connection.outcome({ ...nonEvmAttemptOf(attempt), lost })),
  );
  return outcomes.every(({ kind }) => kind === "dead");
}
