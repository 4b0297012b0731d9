import { receivedIn } from "@causeway/chains";
import type { ReceiptFact, TransactionFact } from "@causeway/chains";
import { NATIVE_CURRENCY, transferWithIdCalldata } from "@causeway/domain";
import type { Chain, RequestTerms } from "@causeway/domain";

type PaymentTerms = Pick<
  RequestTerms,
  "kind" | "requestId" | "user" | "recipient" | "origin" | "destination"
>;
interface Contracts {
  readonly contracts: Pick<Chain["contracts"], "router" | "approvalProxy" | "depository">;
}

/**
 * Whether a transaction is the user's own payment that was quoted, before it is mined. Of a `send` a native payment is recognised by sender, recipient and value, a token's by the
 * request id behind its calldata. A `swap` is a transaction through the router that names the request, whoever sends it: whether it pays shows when it is mined. Wallets may append
 * bytes of their own to any.
 */
export function isQuotedPayment(
  terms: Omit<PaymentTerms, "destination">,
  { contracts: { router, approvalProxy } }: Contracts,
  { from, to, input, value }: TransactionFact,
): boolean {
  const { requestId, recipient, origin } = terms;
  if (terms.kind === "swap")
    return (to === router || to === approvalProxy) && input.includes(requestId.slice(2));
  if (origin.currency === NATIVE_CURRENCY)
    return from === terms.user && to === recipient && value === origin.amount;
  return (
    to === origin.currency && input.startsWith(transferWithIdCalldata(recipient, origin.amount, requestId))
  );
}

/**
 * Whether such a transaction, mined and successful, paid what was promised: a `send` of native coin does by what it is, anything else by what its logs say that the recipient received;
 * a token may take a fee, or move nothing and say that all is well. Nothing is no payment, even where nothing was promised.
 */
export function hasArrived(
  { kind, recipient, destination: { currency, minimumAmount } }: PaymentTerms,
  { contracts }: Contracts,
  { logs }: Pick<ReceiptFact, "logs">,
): boolean {
  if (kind === "send" && currency === NATIVE_CURRENCY) return true;
  const received = receivedIn(logs, { recipient, currency }, contracts);
  return received > 0n && received >= minimumAmount;
}
