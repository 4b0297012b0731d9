import type { DepositFact } from "@causeway/chains";
import { depositUsdAtQuote } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { MappedNonce } from "../../chains/nonce-mappings.port.ts";
import type { UnmappedDeposit } from "../../chains/non-evm-rows.port.ts";
import type { Services } from "../../db/services.port.ts";
import { actOnDeposits } from "../record-deposits.ts";
import type { RecordingServices } from "../apply-deposit.ts";
import { refundWithoutRequest } from "../return-unattributed.ts";
import { isInTime } from "./record-arrivals.ts";

type Needs = Pick<Services, "events"> & RecordingServices & Pick<Services, "uow" | "reads" | "nonceMappings">;

/** Maximum transfers per run: each costs a call to the hub. */
const MAX_PER_RUN = 50;

/**
 * Revisits transfers without a nonce mapping: mapped ones now act on their orders, overdue ones are refunded
 * to their sender. May run at any time in any number of processes: each is handled once, under its own lock.
 */
export async function attributeLate(
  services: Needs,
  { chain }: Pick<ConnectedNonEvmChain, "chain">,
): Promise<void> {
  for (const unmapped of await services.reads.unmappedDeposits(chain.id, MAX_PER_RUN)) {
    const { deposit, nonce, untilMs } = unmapped;
    const { mapped, asOf } = await readMapping(services, chain.id, deposit.sender, nonce);
    if (mapped !== undefined && isInTime(mapped, untilMs)) await attribute(services, chain, unmapped, mapped);
    // By the hub's clock, like the oracles: a mapping that is not visible yet may still be in time.
    else if (mapped !== undefined || Number(asOf) * 1000 > untilMs) await refund(services, chain, unmapped);
  }
}

/** Without a hub, the window ends by the local clock. @throws RpcFault */
async function readMapping(
  { nonceMappings, clock }: Needs,
  chainId: number,
  sender: Address,
  nonce: bigint,
): Promise<{ readonly mapped: MappedNonce | undefined; readonly asOf: bigint }> {
  const asOf = BigInt(Math.floor(clock.nowMs() / 1000));
  return (await nonceMappings?.read(chainId, sender, nonce)) ?? { mapped: undefined, asOf };
}

async function attribute(
  services: Needs,
  chain: ConnectedNonEvmChain["chain"],
  { deposit }: UnmappedDeposit,
  { id, depositor }: MappedNonce,
): Promise<void> {
  await services.uow.run(async (tx) => {
    // Locks the order's request before the deposit, as everywhere.
    const record = (await tx.requests.lockByOrders([id])).get(id);
    const waiting = await tx.nonEvm.lockUnmapped(deposit.id);
    if (waiting === undefined) return;
    const requestId = record?.terms.requestId;
    const valueUsd = (record && depositUsdAtQuote(record.terms, waiting)) ?? 0n;
    await tx.nonEvm.endWaiting(deposit.id, { orderId: id, depositor, requestId, valueUsd });
    const { txHash, ordinal, blockNumber, blockHash, sender, currency, amount, seenAtMs } = waiting;
    const fact: DepositFact = {
      txHash,
      ordinal,
      logIndex: 0,
      blockNumber,
      blockHash,
      depositor,
      sender,
      currency,
      amount,
      id,
    };
    const moved = { fact, deposit: { ...waiting, depositor, orderId: id, requestId } };
    await actOnDeposits(services, tx, { chain, headNumber: blockNumber, seenAtMs }, [moved]);
  });
}

async function refund(
  services: Needs,
  chain: ConnectedNonEvmChain["chain"],
  { deposit, nonce }: UnmappedDeposit,
): Promise<void> {
  const isOurs = await services.uow.run(async (tx) => {
    if ((await tx.nonEvm.lockUnmapped(deposit.id)) === undefined) return false;
    await tx.nonEvm.endWaiting(deposit.id);
    await refundWithoutRequest(services, tx, deposit.id);
    return true;
  });
  if (isOurs)
    services.events.alarm("deposit_unattributed", {
      chain: chain.name,
      txHash: deposit.txHash,
      currency: deposit.currency,
      amount: deposit.amount,
      depositor: deposit.sender,
      nonce,
    });
}
