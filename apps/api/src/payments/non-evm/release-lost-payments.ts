import { RpcFault } from "@causeway/chains";
import type { TransferChain } from "../../chains/chains.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { whyForged } from "../judge-journal-entry.ts";
import type { NonceUser } from "../nonce-user.port.ts";
import type { JournalEntry } from "../payment-journal.port.ts";
import { nonEvmAttemptOf, paymentOf } from "./attempt-of.ts";

/** Nonces below the lane's next one that the journal may still have. */
const JOURNALED_NONCES = 512;
/**
 * The first and the longest pause between two checks of one payment: if it paid, it is checked for as long as
 * the journal has it.
 */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 5 * 60_000;

/** When a payment is checked next. */
interface Check {
  readonly pauseMs: number;
  readonly dueAtMs: number;
}

/** By nonce. */
const checksOf = new WeakMap<TransferChain["connection"], Map<number, Check>>();

/**
 * Releases the requests and claims of lost payments that were given up because their rows could not be
 * restored, once the chain shows that none of their bytes can count. Until then, these are neither paid nor
 * refunded.
 * @param nextNonce of the solver's lane
 */
export async function releaseLostPayments(
  services: WorkerServices,
  connected: TransferChain,
  nextNonce: number,
): Promise<void> {
  const { reads, journal, uow, events } = services;
  const { chain, connection } = connected;
  const lane = { chainId: chain.id, sender: connection.solver };
  if (journal === undefined) return;
  const from = Math.max(0, nextNonce - JOURNALED_NONCES);
  const users = [...(await reads.nonceUsers(chain.id, connection.solver, from, nextNonce))].filter(
    ([, { pays }]) => pays !== undefined,
  );
  const nowMs = services.clock.nowMs();
  const checks = checksOf.get(connection) ?? new Map<number, Check>();
  checksOf.set(connection, checks);
  const isDue = ([nonce]: readonly [number, NonceUser]): boolean =>
    (checks.get(nonce)?.dueAtMs ?? 0) <= nowMs;
  if (!users.some(isDue)) return;
  // Once its rows are restored, the nonce has a slot, and the payment is tracked like any other.
  const allocated = await reads.allocatedNonces(chain.id, connection.solver, from, nextNonce);
  const dueUsers = users.filter((user) => isDue(user) && !allocated.has(user[0]));
  if (dueUsers.length === 0) return;
  const report = (error: unknown, facts: { readonly nonce?: number } = {}): void =>
    events.fault(error instanceof RpcFault ? "chain_fault" : "journal_fault", error, {
      chain: chain.name,
      ...lane,
      ...facts,
    });
  const entries = new Map<number, JournalEntry>();
  try {
    for (const entry of await journal.entries(chain.id, connection.solver)) entries.set(entry.nonce, entry);
  } catch (error) {
    report(error);
    return;
  }
  for (const [nonce, user] of dueUsers) {
    const pauseMs = Math.min(2 * (checks.get(nonce)?.pauseMs ?? FIRST_PAUSE_MS / 2), MAX_PAUSE_MS);
    checks.set(nonce, { pauseMs, dueAtMs: nowMs + pauseMs });
    try {
      const entry = entries.get(nonce);
      if (entry === undefined) {
        if (pauseMs === MAX_PAUSE_MS) alarm(services, connected, nonce, user, NO_ENTRY);
        continue;
      }
      if (!(await isDead(services, connected, entry, user))) continue;
      const { txHash, pays } = user;
      await uow.run(async (tx) => {
        await tx.lanes.noteNonceUser(chain.id, connection.solver, nonce, { txHash, pays: undefined });
        tx.events.happened("lost_payment_dead", { chain: chain.name, nonce, txHash, requestId: pays });
      });
      checks.delete(nonce);
    } catch (error) {
      // One payment's fault must not delay the release of the others.
      report(error, { nonce });
      // No retry helps if blocks are pruned. Any other fault may end.
      if (error instanceof RpcFault && (error.kind === "pruned" || pauseMs === MAX_PAUSE_MS))
        alarm(
          services,
          connected,
          nonce,
          user,
          error.kind === "pruned" ? PRUNED : `${UNKNOWN}: ${error.message}`,
        );
    }
  }
}

const PRUNED = "too few nodes have the blocks that show whether it was made: release it by hand";
const UNKNOWN = "too few nodes show whether it was made";
const NO_ENTRY = "the journal no longer has its bytes, so no node can be asked about it: release it by hand";

/** Reminds the operator, who must look: the first alarm may be days old. */
function alarm(
  { events }: Pick<WorkerServices, "events">,
  { chain, connection: { solver } }: TransferChain,
  nonce: number,
  { txHash, pays }: NonceUser,
  why: string,
): void {
  events.alarm("payment_unrecorded", {
    chain: chain.name,
    sender: solver,
    nonce,
    txHash,
    requestId: pays,
    why,
  });
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
  const newest = attempts.at(-1);
  if (newest?.txHash !== txHash) return false;
  if ((await whyForged(services, { chainId: chain.id, sender: connection.solver }, entry)) !== undefined)
    return false;
  // Bytes that pay the solver cancel the payment, and conflict with all its attempts. They do not prove what
  // the payment was: if other bytes were mined, those may have made it.
  if (paymentOf(plan, newest.kind).recipient.toLowerCase() === connection.solver)
    return (await connection.outcome(nonEvmAttemptOf(newest))).kind === "final";
  const { requestId } = plan.leg;
  const request =
    requestId === undefined || requestId !== pays ? undefined : await services.reads.status(requestId);
  // Without its request, the payment may be of any age.
  const lost = { payment: paymentOf(plan, "pay"), notBeforeMs: request?.createdAtMs ?? 0 };
  // Where attempts conflict, the newest one conflicts with all of them, listed or not.
  const decisive = connection.canReplace ? [newest] : attempts;
  const outcomes = await Promise.all(
    decisive.map(async (attempt) => await connection.outcome({ ...nonEvmAttemptOf(attempt), lost })),
  );
  return outcomes.every(({ kind }) => kind === "dead");
}
