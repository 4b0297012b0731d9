import type { Hex } from "@causeway/domain";
import type { RequestStory } from "./request-history.port.ts";
import type { TraceEntry } from "./past-requests.port.ts";
import type { AddressFormat } from "../../chains/address-format.port.ts";

type Facts = Readonly<Record<string, unknown>>;

/** Facts that are a currency of the chain that stands beside them. */
const CURRENCIES = ["currency", "paysCurrency"];

/**
 * The entries as clients of the two chains write what is in them. What is hex in an entry is told apart by
 * what the request is known to be about: its accounts and the transactions that paid it. A currency is
 * spelled by the chain beside it: native currencies of two families may be the same bytes.
 */
export function spelledTrace(
  entries: readonly TraceEntry[],
  story: Pick<RequestStory, "terms" | "deposits" | "inTxHashes" | "txHashes" | "refundTxHashes">,
  spelling: AddressFormat,
): readonly TraceEntry[] {
  const words = wordsOf(story, spelling);
  const inWords = (value: unknown): unknown => {
    if (typeof value === "string") return words.get(value) ?? value;
    if (Array.isArray(value)) return value.map(inWords);
    return typeof value === "object" && value !== null ? factsInWords(value as Facts) : value;
  };
  const factsInWords = (facts: Facts): Facts =>
    Object.fromEntries(
      Object.entries(facts).map(([name, value]) => {
        const { chainId } = facts;
        const isCurrency = CURRENCIES.includes(name) && typeof chainId === "number";
        return [
          name,
          isCurrency && typeof value === "string" ? spelling.address(chainId, value as Hex) : inWords(value),
        ];
      }),
    );
  return entries.map((entry) => ({ ...entry, facts: factsInWords(entry.facts) }));
}

/** Texts by the hex that they are written for, where the two differ. */
function wordsOf(
  { terms, deposits, inTxHashes, txHashes, refundTxHashes }: Parameters<typeof spelledTrace>[1],
  spelling: AddressFormat,
): ReadonlyMap<string, string> {
  const { origin, destination } = terms;
  const words = new Map<string, string>();
  const note = (bytes: Hex, text: string): void => {
    if (text !== bytes) words.set(bytes, text);
  };
  const account = (chainId: number, bytes: Hex): void => note(bytes, spelling.address(chainId, bytes));
  const transaction = (chainId: number, id: Hex): void => note(id, spelling.transaction(chainId, id));
  for (const one of [terms.user, terms.refundTo]) account(origin.chainId, one);
  account(destination.chainId, terms.recipient);
  for (const { chainId, depositor, sender, txHash } of deposits) {
    account(chainId, depositor);
    account(chainId, sender);
    transaction(chainId, txHash);
  }
  for (const id of [...inTxHashes, ...refundTxHashes]) transaction(origin.chainId, id);
  for (const id of txHashes) transaction(destination.chainId, id);
  return words;
}
