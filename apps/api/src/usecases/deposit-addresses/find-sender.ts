import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { ConnectedChain } from "../../ports/chains.ts";
import type { ObservedFunds } from "../../ports/deposit-addresses.ts";
import type { Services } from "../../ports/services.ts";

/** Blocks that are searched for the payment when nobody knows since when it was not there. */
const SEARCHED_BLOCKS = 5_000n;
/** The same for native coin, for which whole blocks are read. */
const SEARCHED_NATIVE_BLOCKS = 15n;

/** What others sent, if it is less than one part in so many, does not count: anybody could keep money from its sender with a smallest unit of his own. */
const DUST_PART = 1_000n;

/**
 * Who sent what was found at an address: the newest payments add up to exactly that, and are one account's but for dust. Undefined when several accounts did, when something of it left no
 * trace, or when it was an account from which nobody would get it back.
 * @throws RpcFault
 */
export async function findSender(
  services: Pick<Services, "signer" | "executor">,
  { chain, connection }: Pick<ConnectedChain, "chain" | "connection">,
  { address, currency, amount, seenBlock, unseenBlock }: ObservedFunds,
): Promise<Address | undefined> {
  const searched = currency === NATIVE_CURRENCY ? SEARCHED_NATIVE_BLOCKS : SEARCHED_BLOCKS;
  const earliest = seenBlock > searched ? seenBlock - searched : 0n;
  const from = unseenBlock === undefined ? earliest : unseenBlock + 1n;
  if (from > seenBlock) return undefined;
  const payments = await connection.reader.paymentsTo(address, currency, from, seenBlock);
  let found = 0n;
  const sent = new Map<Address, bigint>();
  for (const payment of payments?.toReversed() ?? []) {
    sent.set(payment.from, (sent.get(payment.from) ?? 0n) + payment.amount);
    found += payment.amount;
    if (found >= amount) break;
  }
  if (found !== amount) return undefined;
  const [sender] = [...sent].find(([, part]) => amount - part <= amount / DUST_PART) ?? [];
  if (sender === undefined) return undefined;
  const { depository, router, approvalProxy, serviceReceiver, multicall3 } = chain.contracts;
  const ours = [depository, router, approvalProxy, serviceReceiver, multicall3, NATIVE_CURRENCY, address];
  const isOurs =
    ours.includes(sender) || sender === services.signer.address || sender === services.executor?.address;
  return isOurs ? undefined : sender;
}
