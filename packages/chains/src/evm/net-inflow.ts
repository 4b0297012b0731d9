import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, FrameLog } from "@causeway/domain";
import { TRANSFER_TOPIC } from "./deposits.ts";
import { addressOfTopic, addressOfWord, wordsOf } from "./event-words.ts";
import { SOLVER_NATIVE_TRANSFER_TOPIC } from "./router-events.ts";

/** What the logs of a transaction say of who received what. Pure. */

/**
 * What comes to an account in a token, but for what depositories pay out, less what goes; smallest units, negative when more goes. What a depository pays out is the account's own
 * money: it counts neither when it comes nor, up to its amount, when it goes. (Whoever could take a payment back beside such a withdrawal could do so in a transaction of its
 * own, which nobody sees here.) Undefined when the token emitted a Transfer that cannot be read: it may be the one by which the coins left again.
 */
export function netInflow(
  recipient: string,
  token: string,
  logs: readonly FrameLog[],
  depositories: readonly Address[],
): bigint | undefined {
  let paid = 0n;
  let withdrawn = 0n;
  let gone = 0n;
  for (const log of logs) {
    if (log.address !== token || log.topics[0] !== TRANSFER_TOPIC) continue;
    const from = addressOfTopic(log.topics[1]);
    const to = addressOfTopic(log.topics[2]);
    const words = wordsOf(log.data);
    const amount = words?.[0];
    if (from === undefined || to === undefined || log.topics.length !== 3) return undefined;
    if (amount === undefined || words?.length !== 1) return undefined;
    if (to === recipient)
      if (depositories.includes(from)) withdrawn += amount;
      else paid += amount;
    if (from === recipient) gone += amount;
  }
  return paid - (gone > withdrawn ? gone - withdrawn : 0n);
}

/** Native coin that a router says it paid to an account, wei. @param reports logs of that router only: anybody can emit such an event */
export function nativeReported(recipient: string, reports: readonly FrameLog[]): bigint {
  let paid = 0n;
  for (const { topics, data } of reports) {
    if (topics.length !== 1 || topics[0] !== SOLVER_NATIVE_TRANSFER_TOPIC) continue;
    const words = wordsOf(data);
    if (words?.length === 2 && addressOfWord(words[0]) === recipient) paid += words[1] ?? 0n;
  }
  return paid;
}

/** What a successful transaction brought an account in a currency, as far as its logs prove it; 0 when they prove nothing. */
export function receivedIn(
  logs: readonly FrameLog[],
  { recipient, currency }: { readonly recipient: Address; readonly currency: Address },
  { router, depository }: { readonly router: Address; readonly depository: Address },
): bigint {
  if (currency === NATIVE_CURRENCY)
    return nativeReported(
      recipient,
      logs.filter(({ address }) => address === router),
    );
  const net = netInflow(recipient, currency, logs, [depository]) ?? 0n;
  return net > 0n ? net : 0n;
}
