import type { Hex } from "@causeway/domain";
import type { RequestStory } from "./request-history.port.ts";
import type { TraceEntry } from "./past-requests.port.ts";
import type { AddressFormat } from "../../chains/address-format.port.ts";

type Facts = Readonly<Record<string, unknown>>;

/** Facts that are a currency of the chain in the same entry. */
const CURRENCIES = ["currency", "paysCurrency"];

/**
 * Replaces the request's accounts and transactions in entries with the format of their chains. A currency is
 * formatted by the chain id in its entry, because native currencies of two families may have the same bytes.
 */
export function formatTrace(
  entries: readonly TraceEntry[],
  story: Pick<RequestStory, "terms" | "deposits" | "inTxHashes" | "txHashes" | "refundTxHashes">,
  format: AddressFormat,
): readonly TraceEntry[] {
  const texts = textsOf(story, format);
  const formatValue = (value: unknown): unknown => {
    if (typeof value === "string") return texts.get(value) ?? value;
    if (Array.isArray(value)) return value.map(formatValue);
    return typeof value === "object" && value !== null ? formatFacts(value as Facts) : value;
  };
  const formatFacts = (facts: Facts): Facts =>
    Object.fromEntries(
      Object.entries(facts).map(([name, value]) => {
        const { chainId } = facts;
        const isCurrency = CURRENCIES.includes(name) && typeof chainId === "number";
        return [
          name,
          isCurrency && typeof value === "string"
            ? format.address(chainId, value as Hex)
            : formatValue(value),
        ];
      }),
    );
  return entries.map((entry) => ({ ...entry, facts: formatFacts(entry.facts) }));
}

/** The formatted text of each hex value, where the two differ. */
function textsOf(
  { terms, deposits, inTxHashes, txHashes, refundTxHashes }: Parameters<typeof formatTrace>[1],
  format: AddressFormat,
): ReadonlyMap<string, string> {
  const { origin, destination } = terms;
  const texts = new Map<string, string>();
  const note = (bytes: Hex, text: string): void => {
    if (text !== bytes) texts.set(bytes, text);
  };
  const noteAccount = (chainId: number, bytes: Hex): void => note(bytes, format.address(chainId, bytes));
  const noteTransaction = (chainId: number, id: Hex): void => note(id, format.transaction(chainId, id));
  for (const address of [terms.user, terms.refundTo]) noteAccount(origin.chainId, address);
  noteAccount(destination.chainId, terms.recipient);
  for (const { chainId, depositor, sender, txHash } of deposits) {
    noteAccount(chainId, depositor);
    noteAccount(chainId, sender);
    noteTransaction(chainId, txHash);
  }
  for (const id of [...inTxHashes, ...refundTxHashes]) noteTransaction(origin.chainId, id);
  for (const id of txHashes) noteTransaction(destination.chainId, id);
  return texts;
}
