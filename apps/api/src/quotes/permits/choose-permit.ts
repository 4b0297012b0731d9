import { NATIVE_CURRENCY, permitMethods, ServiceError } from "@causeway/domain";
import type { Address, PermitMethod } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { PermitTokens } from "../../chains/permits.port.ts";
import type { Market } from "../market.ts";
import type { PlainQuestion } from "../quote-question.ts";
import { evmOf } from "../sides/side.ts";
import type { ChosenPermit } from "./chosen-permit.ts";

export interface ChoosePermitServices {
  readonly market: Market;
  /** Undefined: payments by permit are not enabled. */
  readonly permitTokens?: PermitTokens | undefined;
  readonly executor?: { readonly address: Address } | undefined;
}

const DEFAULT_EXPIRY_SECONDS = 600;
/** Below this, the signature may expire before the user has signed it and its transaction is mined. */
const MIN_EXPIRY_SECONDS = 60;
const MAX_EXPIRY_SECONDS = 86_400;

/**
 * Chooses the kind of signature: an EIP-3009 authorization, else an EIP-2612 permit, else Permit2. Uses only
 * kinds that the client can sign. Contract accounts can sign only for Permit2. A same-chain quote is filled
 * by the solver, because a pool's output could not pay for submitting the signature.
 * @throws ServiceError with the reason if the user cannot pay by signature
 */
export function choosePermit(
  services: ChoosePermitServices,
  question: PlainQuestion,
  input: QuoteInput,
): ChosenPermit {
  const { originCurrency, isSend } = question;
  const { permitTokens, executor } = services;
  if (permitTokens === undefined || executor === undefined)
    throw refusal("usePermit is not enabled on this service");
  if (originCurrency.address === NATIVE_CURRENCY)
    throw refusal(`usePermit is not supported for the native token ${originCurrency.symbol}`);
  if (isSend) throw refusal("usePermit is not supported when the user pays the recipient directly");
  const expirySeconds = input.permitExpiry ?? DEFAULT_EXPIRY_SECONDS;
  if (expirySeconds < MIN_EXPIRY_SECONDS || expirySeconds > MAX_EXPIRY_SECONDS)
    throw new ServiceError(
      "INVALID_REQUEST",
      `permitExpiry must be ${MIN_EXPIRY_SECONDS} to ${MAX_EXPIRY_SECONDS} seconds, got ${expirySeconds}`,
      { field: "permitExpiry" },
    );
  const chosen = chooseMethod(services.market, question, input.permitKinds ?? permitMethods);
  return { ...chosen, expirySeconds, relayer: executor.address.toLowerCase() as Address };
}

function chooseMethod(
  market: Market,
  { from, originCurrency, user }: PlainQuestion,
  kinds: readonly PermitMethod[],
): Pick<ChosenPermit, "method" | "domain" | "tokenNonce"> {
  const { chain } = evmOf(from);
  market.together(
    () => market.permitsOf(chain, originCurrency),
    () => market.hasCode(chain.id, user),
  );
  const permits = market.permitsOf(chain, originCurrency);
  const isContract = market.hasCode(chain.id, user);
  const { domain } = permits;
  if (domain !== undefined && !isContract) {
    if (permits.eip3009 && kinds.includes("eip3009"))
      return { method: "eip3009", domain, tokenNonce: undefined };
    // An EIP-2612 permit can only be deposited: a payment that is swapped first needs another kind of
    // signature.
    const isDeposited =
      originCurrency.supportsBridging && chain.contracts.depositAddressFactory !== undefined;
    if (permits.eip2612 && isDeposited && kinds.includes("eip2612"))
      return { method: "eip2612", domain, tokenNonce: market.permitNonce(chain, originCurrency, user) };
  }
  if (!kinds.includes("permit2"))
    throw new ServiceError(
      "UNSUPPORTED_EXECUTION_TYPE",
      `permitKinds: ${kinds.join(" or ")} cannot be used for ${originCurrency.symbol} on ${chain.displayName}; add permit2`,
      { field: "permitKinds" },
    );
  if (chain.contracts.permit2 === undefined)
    throw refusal(
      `usePermit is not supported for ${originCurrency.symbol} on ${chain.displayName}: ${
        isContract ? "contract wallets need Permit2" : "the token has no permit"
      }, and Permit2 is not configured`,
    );
  return { method: "permit2", domain: undefined, tokenNonce: undefined };
}

function refusal(message: string): ServiceError {
  return new ServiceError("UNSUPPORTED_EXECUTION_TYPE", message, { field: "usePermit" });
}
