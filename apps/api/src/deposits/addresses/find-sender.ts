import { NATIVE_CURRENCY } from "@causeway/domain";
import { layersBeyond, serviceContracts, totalOf } from "@causeway/domain";
import type { Address, FundsLayer } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { CurrencyAt } from "./deposit-addresses.port.ts";
import type { Services } from "../../db/services.port.ts";
import { ownAccounts, type OwnKeys } from "../../chains/index.ts";

/** Maximum blocks searched for payments: old dust could otherwise force a longer search. */
const SEARCHED_BLOCKS = 5_000n;
/** The same for native tokens, for which whole blocks are read. */
const SEARCHED_NATIVE_BLOCKS = 15n;

/** Payments below this fraction do not count: otherwise anyone could hide the sender with one base unit. */
const DUST_PART = 1_000n;

/** Confirmed funds at an address. */
export interface ConfirmedFunds extends CurrencyAt {
  readonly amount: bigint;
  /** The parts of the amount, oldest first. */
  readonly layers: readonly FundsLayer[];
}

/**
 * Finds the sender of funds: the newest payments add up to the exact amount and, except for dust, come from
 * one account. Undefined if several accounts paid, a payment left no trace, or the account is one of this
 * service's.
 * @throws RpcFault
 */
export async function findSender(
  services: OwnKeys & Pick<Services, "formerSigners">,
  { chain, connection }: Pick<ConnectedChain, "chain" | "connection">,
  { address, currency, amount, layers }: ConfirmedFunds,
): Promise<Address | undefined> {
  // Old dust would extend the search back to it.
  const recent = withoutOldDust(layers, amount / DUST_PART);
  const inOrder = recent.toSorted((a, b) => Number(foundIn(a) - foundIn(b)));
  const [first, last] = [inOrder.at(0), inOrder.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const { unseenBlock } = first;
  const seenBlock = foundIn(last);
  const searchedAmount = totalOf(recent);
  const maxBlocks = currency === NATIVE_CURRENCY ? SEARCHED_NATIVE_BLOCKS : SEARCHED_BLOCKS;
  const earliest = seenBlock > maxBlocks ? seenBlock - maxBlocks : 0n;
  // Part of the amount was paid before the searched blocks: the payments found would not add up.
  if (foundIn(first) < earliest) return undefined;
  const from = unseenBlock === undefined || unseenBlock < earliest ? earliest : unseenBlock + 1n;
  if (from > seenBlock) return undefined;
  const payments = await connection.reader.paymentsTo(address, currency, from, seenBlock);
  let total = 0n;
  const sent = new Map<Address, bigint>();
  for (const payment of payments?.toReversed() ?? []) {
    sent.set(payment.from, (sent.get(payment.from) ?? 0n) + payment.amount);
    total += payment.amount;
    if (total >= searchedAmount) break;
  }
  if (total !== searchedAmount) return undefined;
  const [sender] = [...sent].find(([, part]) => amount - part <= amount / DUST_PART) ?? [];
  if (sender === undefined) return undefined;
  const { multicall3 } = chain.contracts;
  const contracts = [...serviceContracts(chain.contracts), multicall3];
  const former = services.formerSigners.map((signer) => signer.address);
  const ownAddresses = [...contracts, ...ownAccounts(services), ...former, NATIVE_CURRENCY, address];
  return ownAddresses.includes(sender) ? undefined : sender;
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
