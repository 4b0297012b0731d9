import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, FrameLog } from "@causeway/domain";
import { TRANSFER_TOPIC } from "../deposits.ts";
import { addressOfTopic, addressOfWord, splitWords } from "../answers/event-words.ts";
import { SOLVER_NATIVE_TRANSFER_TOPIC } from "./router-events.ts";

/** Sums the transfers in a transaction's logs by account. Pure. */

/** Transfers of one token to and from one account, base units. */
export interface TokenFlows {
  /** By sender. */
  readonly received: ReadonlyMap<Address, bigint>;
  readonly sent: bigint;
}

/**
 * Transfers of `token` to and from `account`. Undefined if the token emitted an unreadable Transfer, which
 * may have moved the tokens out again.
 */
export function tokenFlows(
  account: string,
  token: string,
  logs: readonly FrameLog[],
): TokenFlows | undefined {
  const received = new Map<Address, bigint>();
  let sent = 0n;
  for (const log of logs) {
    if (log.address !== token || log.topics[0] !== TRANSFER_TOPIC) continue;
    const from = addressOfTopic(log.topics[1]);
    const to = addressOfTopic(log.topics[2]);
    const words = splitWords(log.data);
    const amount = words?.[0];
    if (from === undefined || to === undefined || log.topics.length !== 3) return undefined;
    if (amount === undefined || words?.length !== 1) return undefined;
    if (to === account) received.set(from, (received.get(from) ?? 0n) + amount);
    if (from === account) sent += amount;
  }
  return { received, sent };
}

/**
 * The part of a payment that counts: what the payer transferred, minus what the recipient sent beyond what
 * others sent to them, capped at the named amount. If the recipient's balance grew by the named amount, all
 * of it counts. Undefined if the transfers cannot be read.
 *
 * @param payment.guaranteed the amount whose receipt the router itself checked; later transfers do not
 * reduce it. Default: 0
 */
export function keptPayment(
  recipient: string,
  token: string,
  logs: readonly FrameLog[],
  {
    payer,
    named,
    guaranteed = 0n,
  }: { readonly payer: Address; readonly named: bigint; readonly guaranteed?: bigint },
): bigint | undefined {
  const flows = tokenFlows(recipient, token, logs);
  if (flows === undefined) return undefined;
  const { received, sent } = flows;
  const shown = received.get(payer) ?? 0n;
  const fromOthers = [...received.values()].reduce((sum, amount) => sum + amount, 0n) - shown;
  const loss = greater(0n, sent - fromOthers);
  return lesser(named, greater(shown - loss, lesser(shown, guaranteed)));
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const greater = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * The native amount that a router reports as paid to an account, in wei.
 *
 * @param reports logs of that router only, because any contract can emit such an event
 */
export function nativeReported(recipient: string, reports: readonly FrameLog[]): bigint {
  let paid = 0n;
  for (const { topics, data } of reports) {
    if (topics.length !== 1 || topics[0] !== SOLVER_NATIVE_TRANSFER_TOPIC) continue;
    const words = splitWords(data);
    if (words?.length === 2 && addressOfWord(words[0]) === recipient) paid += words[1] ?? 0n;
  }
  return paid;
}

/**
 * What an account received in a currency in a successful transaction, as far as its logs prove. A withdrawal
 * from the depository is the account's own money: it does not count as received, and sending up to its
 * amount does not count as returned. Reports of former routers count for native payments too, because users
 * may pay for quotes from before the replacement.
 */
export function receivedIn(
  logs: readonly FrameLog[],
  { recipient, currency }: { readonly recipient: Address; readonly currency: Address },
  {
    router,
    depository,
    formerContracts = [],
  }: {
    readonly router: Address;
    readonly depository: Address;
    readonly formerContracts?: readonly Address[] | undefined;
  },
): bigint {
  if (currency === NATIVE_CURRENCY)
    return nativeReported(
      recipient,
      logs.filter(
        ({ address }) => address === router || formerContracts.some((former) => former === address),
      ),
    );
  const flows = tokenFlows(recipient, currency, logs);
  if (flows === undefined) return 0n;
  const withdrawn = flows.received.get(depository) ?? 0n;
  const paid = [...flows.received.values()].reduce((sum, amount) => sum + amount, 0n) - withdrawn;
  const net = paid - (flows.sent > withdrawn ? flows.sent - withdrawn : 0n);
  return net > 0n ? net : 0n;
}
