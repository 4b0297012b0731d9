import { depositUsdAtQuote } from "@causeway/domain";
import type { DepositFact } from "@causeway/chains";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { actOnDeposits, type RecordingServices, tooSmallOn } from "../deposits/index.ts";
import { whyMaybePaid, whyMaybeReturned } from "./unexplained-nonces.ts";

type Needs = Pick<Services, "events"> &
  RecordingServices &
  Pick<Services, "uow" | "reads" | "prices" | "quotePolicy" | "signer" | "formerSigners" | "chains">;

const PAGE_SIZE = 50;

/**
 * Attributes EVM deposits that were recorded before their order was known, for example because a failover
 * lost the request and the operator restored its row. Each then acts on its request like a new deposit. May
 * run at any time, in any number of processes.
 */
export async function attributeRecordedDeposits(services: Needs, connected: ConnectedChain): Promise<void> {
  for (let after: DepositRecord | undefined; ;) {
    const page = await services.reads.attributableDeposits(connected.chain.id, after?.id, PAGE_SIZE);
    for (const deposit of page)
      if (await canAttribute(services, connected, deposit)) await attribute(services, connected, deposit);
    after = page.at(-1);
    if (after === undefined) return;
  }
}

/**
 * Whether the deposit's order is known, and nothing suggests that a failover lost the rows of a refund of the
 * deposit or of a fill of the request.
 * @throws RpcFault
 */
async function canAttribute(
  services: Needs,
  connected: ConnectedChain,
  deposit: DepositRecord,
): Promise<boolean> {
  const { orderId, txHash } = deposit;
  const request = orderId && (await services.reads.requestsByOrders([orderId])).get(orderId);
  if (request === undefined) return false;
  const { terms } = request;
  const returned = await whyMaybeReturned(services, connected, txHash);
  return (
    returned === undefined && (await whyMaybePaid(services, terms.destination.chainId, terms)) === undefined
  );
}

async function attribute(
  services: Needs,
  connected: ConnectedChain,
  { id, orderId }: DepositRecord,
): Promise<void> {
  const { chain } = connected;
  if (orderId === undefined) return;
  // Rows restored by hand may show a refund that the deposit's own row does not.
  const slot = await services.reads.slotOfLeg("refund", id);
  await services.uow.run(async (tx) => {
    // Locks in the same order everywhere: cursor, request, deposit.
    const cursor = await tx.trail.lockCursor(chain.id);
    const request = (await tx.requests.lockByOrders([orderId])).get(orderId);
    const deposit = await tx.deposits.lock(id);
    if (cursor === undefined || request === undefined || deposit === undefined || !isUndecided(deposit))
      return;
    const doubt =
      slot === undefined
        ? await whyDoubtful(tx, deposit, request)
        : `slot ${slot.id} already refunds this deposit`;
    if (doubt !== undefined) {
      await leaveToOperator(tx, chain.name, deposit, doubt);
      return;
    }
    const { requestId } = request.terms;
    const fact: DepositFact = { ...deposit, id: orderId, logIndex: 0 };
    await tx.deposits.assignRequest(id, requestId, depositUsdAtQuote(request.terms, deposit) ?? 0n);
    const reading = {
      chain,
      headNumber: cursor.number,
      seenAtMs: services.clock.nowMs(),
      isTooSmall: tooSmallOn(services, connected),
    };
    await actOnDeposits(services, tx, reading, [{ fact, deposit: { ...deposit, requestId } }]);
  });
}

/** Whether nothing was decided about the deposit. A refund that was decided continues, even if unsent. */
function isUndecided({
  disposition,
  requestId,
  canonical,
  refundState,
  refundWaits,
}: DepositRecord): boolean {
  return (
    disposition === "unattributed" &&
    requestId === undefined &&
    canonical &&
    refundState === "none" &&
    refundWaits === undefined
  );
}

/** Why this deposit may have been paid out already; undefined: it was not. */
async function whyDoubtful(
  tx: Pick<Tx, "deposits">,
  deposit: DepositRecord,
  { state, terms }: RequestRecord,
): Promise<string | undefined> {
  if ((await tx.deposits.refundedAndOrphaned(deposit)) !== undefined)
    return "this deposit may replace an orphaned one that was already refunded";
  if (state.depositId === undefined) return undefined;
  const recordedDeposit = await tx.deposits.lock(state.depositId);
  return recordedDeposit?.requestId === terms.requestId
    ? undefined
    : `the request refers to deposit ${state.depositId}, which is missing in the database and may be this deposit`;
}

async function leaveToOperator(
  tx: Tx,
  chain: string,
  { id, txHash, currency, amount, depositor, orderId }: DepositRecord,
  reason: string,
): Promise<void> {
  if (await tx.deposits.recordRefundWait(id, reason))
    tx.events.alarm("deposit_unattributed", { chain, txHash, currency, amount, depositor, orderId, reason });
}
