import { RpcFault } from "@causeway/chains";
import type { TransferChain } from "../../chains/chains.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { forgeryIn } from "../check-entry.ts";
import { nonEvmAttemptOf } from "./attempt-of.ts";

/** Nonces below the lane's next one that the journal may still have. */
const KEPT = 512;

/**
 * Releases what lost payments were for, if they were given up because their rows could not be restored, and
 * the chain shows that none of their bytes can count. Until then it is neither paid nor refunded.
 * @param nextNonce of the solver's lane
 */
export async function releaseDead(
  services: WorkerServices,
  { chain, connection }: TransferChain,
  nextNonce: number,
): Promise<void> {
  const { reads, journal, uow, events } = services;
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
    for (const [nonce, { txHash, pays }] of users) {
      const entry = entries.get(nonce);
      if (entry === undefined || entry.attempts.at(-1)?.txHash !== txHash) continue;
      // Any client that can write to Redis can change an entry.
      if ((await forgeryIn(services, lane, entry)) !== undefined) continue;
      const outcomes = await Promise.all(
        entry.attempts.map(async (attempt) => await connection.outcome(nonEvmAttemptOf(attempt))),
      );
      if (!outcomes.every(({ kind }) => kind === "dead")) continue;
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
