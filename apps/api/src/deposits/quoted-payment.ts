import { receivedIn } from "@causeway/chains";
import type { ReceiptFact, TransactionFact } from "@causeway/chains";
import { NATIVE_CURRENCY, nativeTransferWithIdCalldata, transferWithIdCalldata } from "@causeway/domain";
import type { Chain, RequestTerms } from "@causeway/domain";

type PaymentTerms = Pick<
  RequestTerms,
  "kind" | "requestId" | "user" | "recipient" | "origin" | "destination"
>;
interface Contracts {
  readonly contracts: Pick<Chain["contracts"], "router" | "approvalProxy" | "depository" | "formerContracts">;
}

/** Transactions quoted before a router was replaced go through the former one and still count. */
const isRouter = (
  to: TransactionFact["to"],
  { router, formerContracts = [] }: Contracts["contracts"],
): boolean => to !== undefined && (to === router || formerContracts.includes(to));

/**
 * Whether a transaction is the quoted payment, before it is mined. It carries the request id: a native `send`
 * at the start of its calldata, another `send` after the transfer call, a `swap` anywhere in a transaction
 * through the router. Wallets may append bytes.
 */
export function isQuotedPayment(
  terms: Omit<PaymentTerms, "destination">,
  { contracts }: Contracts,
  { from, to, input, value }: TransactionFact,
): boolean {
  const { requestId, recipient, origin } = terms;
  if (terms.kind === "swap")
    return (isRouter(to, contracts) || to === contracts.approvalProxy) && input.includes(requestId.slice(2));
  if (origin.currency === NATIVE_CURRENCY && value !== origin.amount) return false;
  if (origin.currency === NATIVE_CURRENCY && isRouter(to, contracts))
    return input.startsWith(nativeTransferWithIdCalldata(recipient, origin.amount, requestId));
  if (origin.currency === NATIVE_CURRENCY)
    return from === terms.user && to === recipient && input.startsWith(requestId);
  return (
    to === origin.currency && input.startsWith(transferWithIdCalldata(recipient, origin.amount, requestId))
  );
}

/**
 * Whether such a mined transaction paid the guaranteed amount: a native `send` always does, anything else by
 * what the logs say the recipient received, as tokens may charge a fee or move nothing. Zero never counts as
 * paid.
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
