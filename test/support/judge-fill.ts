import { judgePayments, type PaymentJudgment } from "@causeway/families/evm";
import type { Address, Hex } from "@causeway/domain";
import type { QuotedRequest, EngineWorld } from "./engine-world.ts";

/**
 * How an oracle judges a transaction as the fill of an order: what each recipient received, or why the
 * transaction does not count.
 */
export async function judgeFill(
  { destination }: Pick<EngineWorld, "destination">,
  { terms }: Pick<QuotedRequest, "terms">,
  hash: Hex,
): Promise<PaymentJudgment> {
  const { client, chain: described } = destination;
  const [transaction, receipt] = await Promise.all([
    client.getTransaction({ hash }),
    client.getTransactionReceipt({ hash }),
  ]);
  const { timestamp } = await client.getBlock({ blockHash: receipt.blockHash });
  const lower = (address: string | null): Address => (address ?? "0x").toLowerCase() as Address;
  return judgePayments(
    {
      depositories: [described.contracts.depository],
      fillContracts: [described.contracts.router, described.contracts.approvalProxy],
      isZksyncStack: false,
    },
    {
      transaction: {
        from: lower(transaction.from),
        to: lower(transaction.to),
        input: transaction.input,
        value: transaction.value,
      },
      logs: receipt.logs.map((log) => ({
        address: lower(log.address),
        topics: log.topics,
        data: log.data,
        logIndex: log.logIndex,
        blockNumber: log.blockNumber,
        blockHash: log.blockHash,
        txHash: log.transactionHash,
      })),
      timestamp,
    },
    {
      orderId: terms.orderId,
      solver: terms.order.solver,
      receipts: terms.order.output.payments.map(({ recipient, currency }) => ({ recipient, currency })),
      calls: terms.order.output.calls,
      deadline: terms.order.output.deadline,
      extraData: terms.order.output.extraData,
    } as Parameters<typeof judgePayments>[2],
  );
}
