import { NATIVE_CURRENCY } from "@causeway/domain";
import { layersBeyond, serviceContracts, totalOf } from "@causeway/domain";
import type { Address, FundsLayer } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { CurrencyAt } from "./deposit-addresses.port.ts";
import type { Services } from "../../db/services.port.ts";
import { ownAccounts } from "../../chains/lane-signers.ts";
import type { OwnKeys } from "../../chains/lane-signers.ts";

/** Blocks searched for the payments at most: anyone could make a longer search necessary with old dust. */
const SEARCHED_BLOCKS = 5_000n;
/** The same for native coin, for which whole blocks are read. */
const SEARCHED_NATIVE_BLOCKS = 15n;

/**
 * What others sent, if it is less than one part in so many, does not count: anybody could keep money from its
 * sender with a smallest unit of his own.
 */
const DUST_PART = 1_000n;

/** Confirmed money at an address. */
export interface ConfirmedFunds extends CurrencyAt {
  readonly amount: bigint;
  /** What makes up the amount, the oldest first. */
  readonly layers: readonly FundsLayer[];
}

/**
 * Who sent what was found at an address: the newest payments add up to exactly that, and are one account's
 * but for dust. Undefined when several accounts did, when something of it left no trace, or when it was an
 * account from which nobody would get it back.
 * @throws RpcFault
 */
export async function findSender(
  services: OwnKeys & Pick<Services, "formerSigners">,
  { chain, connection }: Pick<ConnectedChain, "chain" | "connection">,
  { address, currency, amount, layers }: ConfirmedFunds,
): Promise<Address | undefined> {
  // Dust of long ago would make the search reach back to it.
  const recent = withoutOldDust(layers, amount / DUST_PART);
  const inOrder = recent.toSorted((one, other) => Number(foundIn(one) - foundIn(other)));
  const [first, last] = [inOrder.at(0), inOrder.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const { unseenBlock } = first;
  const seenBlock = foundIn(last);
  const searchedAmount = totalOf(recent);
  const searched = currency === NATIVE_CURRENCY ? SEARCHED_NATIVE_BLOCKS : SEARCHED_BLOCKS;
  const earliest = seenBlock > searched ? seenBlock - searched : 0n;
  // Some of it was paid before the blocks that are searched: the payments found would not add up.
  if (foundIn(first) < earliest) return undefined;
  const from = unseenBlock === undefined || unseenBlock < earliest ? earliest : unseenBlock + 1n;
  if (from > seenBlock) return undefined;
  const payments = await connection.reader.paymentsTo(address, currency, from, seenBlock);
  let found = 0n;
  const sent = new Map<Address, bigint>();
  for (const payment of payments?.toReversed() ?? []) {
    sent.set(payment.from, (sent.get(payment.from) ?? 0n) + payment.amount);
    found += payment.amount;
    if (found >= searchedAmount) break;
  }
  if (found !== searchedAmount) return undefined;
  const [sender] = [...sent].find(([, part]) => amount - part <= amount / DUST_PART) ?? [];
  if (sender === undefined) return undefined;
  const { multicall3 } = chain.contracts;
  const contracts = [...serviceContracts(chain.contracts), multicall3];
  const former = services.formerSigners.map((one) => one.address);
  const ours = [...contracts, ...ownAccounts(services), ...former, NATIVE_CURRENCY, address];
  return ours.includes(sender) ? undefined : sender;
}

const foundIn = ({ foundBlock, sinceBlock }: FundsLayer): bigint => foundBlock ?? sinceBlock;

function withoutOldDust(layers: readonly FundsLayer[], dust: bigint): readonly FundsLayer[] {
  let skipped = 0n;
  for (const { amount } of layers) {
    if (skipped + amount > dust) break;
    skipped += amount;
  }
  return layersBeyond(layers, skipped);
}
