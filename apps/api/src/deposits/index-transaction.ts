import type { DepositFact, TransactionFact } from "@causeway/chains";
import { isWatchedOnly, MAX_WHOLE_DEPOSITS } from "@causeway/domain";
import type { RequestId, TxHash } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { UnitOfWork } from "../db/unit-of-work.port.ts";
import { storeTopUps } from "../balances/index.ts";
import { recordDeposits } from "./record-deposits.ts";
import { sightingOf } from "./store-deposits.ts";
import type { RecordingServices } from "./apply-deposit.ts";
import { unseenTransaction } from "./unseen-transaction.ts";
import { indexNonEvm } from "./non-evm/index-non-evm.ts";
import { recordSend } from "./record-send.ts";
import { ReportsBusy } from "../db/report-turns.ts";
import { tooSmallOn } from "./too-small-deposits.ts";
import { describeIndexed } from "../requests/index.ts";
import { unsupportedChain } from "../http/refusals.ts";

type Needs = Pick<Services, "chains" | "events" | "uow" | "reads" | "signer" | "nonceMappings"> &
  RecordingServices & {
    /** For work that locks no row of the chain, and so does not wait for its scan. Absent: `uow`. */
    readonly requestUow?: UnitOfWork;
  };

interface Report {
  readonly chainId: number;
  readonly txHash: TxHash;
  readonly requestId?: RequestId;
}

const MAX_DEPOSITS = 20;
const INDEXED_WITH_BLOCK = { message: "Transaction will be indexed when its block is scanned" };

/**
 * Records the deposits of a transaction that a client reported, ahead of the watcher. Trusts only the chain.
 * @throws ServiceError UNSUPPORTED_CHAIN; SERVICE_UNAVAILABLE when it is not this report's turn;
 * TRANSACTION_NOT_FOUND while the node does not know it (the watcher will still find it); RpcFault
 */
export async function indexTransaction(services: Needs, report: Report): Promise<{ message: string }> {
  const nonEvm = services.chains.nonEvm(report.chainId);
  if (nonEvm !== undefined) return indexNonEvm(services, nonEvm, report.txHash);
  const connected = chainOf(services, report.chainId);
  const { chain, connection } = connected;
  const state = await connection.reader.transaction(report.txHash);
  if (state.kind === "absent") throw unseenTransaction(report.txHash);
  const record = report.requestId && (await services.reads.request(report.requestId));
  const forRequest = { ...services, uow: services.requestUow ?? services.uow };
  if (record && isWatchedOnly(record.terms.kind))
    return recordSend(forRequest, connected, record.terms, state);
  if (state.kind === "pending") {
    if (record !== undefined) await rememberOrigin(forRequest, record, state.transaction);
    return { message: "Transaction seen, waiting to be mined" };
  }
  if (state.receipt.status === "reverted") return { message: "Transaction reverted, nothing to index" };
  const facts = await dropOldFormerDeposits(services, connected, connection.reader.depositsOf(state));
  const isHome = chain.id === services.appBalance.chainId;
  const topUps = isHome ? connection.reader.topUpsOf(services.signer.address, state) : [];
  if (facts.length + topUps.length === 0) return { message: "Transaction contains no deposit" };
  // The shortcut is for a user's own deposit. Hundreds in one transaction wait for the watcher, which also
  // checks whether oracles can attest that many logs.
  if (facts.length + topUps.length > MAX_DEPOSITS || state.receipt.logs.length > MAX_WHOLE_DEPOSITS)
    return INDEXED_WITH_BLOCK;

  const { blockNumber, blockHash } = state.receipt;
  const canonical = await connection.reader.block(blockNumber);
  if (canonical?.hash !== blockHash) throw unseenTransaction(report.txHash);
  const isRecorded = async (): Promise<boolean> =>
    topUps.length === 0 && (await services.reads.areRecorded(chain.id, facts.map(sightingOf)));
  // Reports are repeated: a transaction that is already recorded needs no lock and no turn.
  if (await isRecorded()) return await describeIndexed(services, chain.id, report.txHash);
  const seenAtMs = services.clock.nowMs();
  const isTooSmall = tooSmallOn(services, connected);
  const recording = services.uow.run(async (tx) => {
    // The watcher's view of its blocks wins: a lagging node must not restore a block that the watcher
    // dropped.
    const cursor = await tx.trail.lockCursor(chain.id);
    const watchedHash = await tx.trail.hashAt(chain.id, blockNumber);
    const hasPassed = cursor !== undefined && cursor.number >= blockNumber;
    if (hasPassed && watchedHash !== undefined && watchedHash !== blockHash)
      throw unseenTransaction(report.txHash);
    // Blocks that were announced but not read confirm nothing: they may be on another branch, without the
    // deposit.
    const headNumber = hasPassed ? cursor.number : blockNumber;
    await recordDeposits(services, tx, { chain, headNumber, seenAtMs, isTooSmall }, facts);
    if (isHome) await storeTopUps(services, tx, topUps, seenAtMs);
  });
  try {
    await recording;
  } catch (error) {
    if (!(error instanceof ReportsBusy)) throw error;
    if (await isStillToScan(services, chain.id, blockNumber)) return INDEXED_WITH_BLOCK;
    // The scan may have reached the block in the meantime.
    if (!(await isRecorded())) throw error;
  }
  return await describeIndexed(services, chain.id, report.txHash);
}

/**
 * Whether the watcher will reach a block. Deposits in blocks before its first one are only recorded by
 * reports.
 */
async function isStillToScan(
  { reads }: Pick<Needs, "reads">,
  chainId: number,
  blockNumber: bigint,
): Promise<boolean> {
  const cursor = await reads.cursor(chainId);
  return cursor !== undefined && cursor.number < blockNumber;
}

/**
 * Leaves out deposits to a former depository in final blocks. If they are not stored, the depository was not
 * listed then, and the operator may have returned the funds through its allocator.
 */
async function dropOldFormerDeposits(
  { reads }: Pick<Needs, "reads">,
  { chain }: ConnectedChain,
  facts: readonly DepositFact[],
): Promise<readonly DepositFact[]> {
  const { formerDepositories = [] } = chain.contracts;
  const isInFormer = ({ depository }: DepositFact): boolean =>
    formerDepositories.some((former) => former === depository);
  if (!facts.some(isInFormer)) return facts;
  const recheckedBlock = (await reads.recheckedBlock(chain.id)) ?? -1n;
  return facts.filter((fact) => fact.blockNumber > recheckedBlock || !isInFormer(fact));
}

/**
 * A fast fill may check this transaction before it is mined. Remembers only a transaction that the user
 * sent and that names their order: anyone can report any transaction.
 */
async function rememberOrigin(
  { uow, clock }: Pick<Needs, "uow" | "clock">,
  { terms: { requestId, user, orderId, kind } }: RequestRecord,
  { from, input, hash }: TransactionFact,
): Promise<void> {
  if (kind !== "bridge" || from !== user || !input.includes(orderId.slice(2))) return;
  await uow.run((tx) => tx.fastFills.rememberOrigin(requestId, hash, clock.nowMs()));
}

/** @throws ServiceError UNSUPPORTED_CHAIN */
export function chainOf(services: Pick<Services, "chains">, chainId: number): ConnectedChain {
  const connected = services.chains.get(chainId);
  if (connected === undefined) throw unsupportedChain(chainId);
  return connected;
}
