import { authorizationNonce, depositAddressOf, routerCalls } from "@causeway/domain";
import type { Hex32, PermitTerms, RequestTerms, RouteWitness, RouterCall } from "@causeway/domain";
import type { QuoteGas } from "../../markets/quote-policy.port.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { BridgeRoute, ChosenRoute, RouteGuarantee } from "../routing/chosen-route.ts";
import { evmOf } from "../sides/side.ts";
import { depositCalls } from "../routing/routed-calls.ts";
import type { ChosenPermit } from "./chosen-permit.ts";
import { keyOf } from "./permit-call.ts";
import { permitGasUnits } from "./permit-gas.ts";

/** The exact typed data that the user signs for these terms. */
export function permitTermsOf(
  gas: QuoteGas,
  question: QuoteQuestion & { readonly permit: ChosenPermit },
  route: ChosenRoute,
  { terms, guarantee }: { readonly terms: RequestTerms; readonly guarantee: RouteGuarantee },
): PermitTerms {
  if (route.kind !== "bridge")
    throw new Error("invariant violated: permit for a request that is not a bridge");
  const { permit, originCurrency, from, originGasOverhead = 0 } = question;
  const { contracts } = evmOf(from).chain;
  const { user, orderId } = terms;
  const nowSeconds = Math.floor(terms.createdAtMs / 1000);
  const deadline = Math.min(nowSeconds + permit.expirySeconds, Math.floor(terms.fillDeadlineMs / 1000));
  const shared = {
    method: permit.method,
    token: originCurrency.address,
    amount: guarantee.maxInput,
    deadline,
    gasUnits:
      permitGasUnits(gas, permit.method, {
        paid: originCurrency,
        deposited: route.deposited,
        originSwap: route.trade.origin,
      }) + BigInt(originGasOverhead),
    ...(permit.domain !== undefined && { domain: permit.domain }),
  };
  if (permit.method === "eip2612") {
    const { depositAddressFactory: factory } = contracts;
    if (factory === undefined || permit.tokenNonce === undefined)
      throw new Error(
        "invariant violated: EIP-2612 permit without a deposit address factory or a token nonce",
      );
    return {
      ...shared,
      nonce: toWord(permit.tokenNonce),
      spender: depositAddressOf(factory, keyOf(orderId, user)),
    };
  }
  const witness: RouteWitness = {
    relayer: permit.relayer,
    refundTo: user,
    refundTokens: [],
    calls: callsOf(question, route, { terms, guarantee }),
  };
  const routed = { ...shared, spender: contracts.approvalProxy, witness };
  if (permit.method === "permit2") return { ...routed, nonce: orderId };
  const nonce = authorizationNonce(
    {
      token: shared.token,
      from: user,
      value: shared.amount,
      validAfter: 0n,
      validBefore: BigInt(deadline),
    },
    witness,
  );
  return { ...routed, nonce };
}

/** The deposit, after the swap if there is one. The transaction reverts if any call fails. */
function callsOf(
  { from, originCurrency, user }: QuoteQuestion,
  { deposited, trade }: BridgeRoute,
  { terms, guarantee }: { readonly terms: RequestTerms; readonly guarantee: RouteGuarantee },
): readonly RouterCall[] {
  const { chain } = evmOf(from);
  const { depository, router } = chain.contracts;
  const minimum = guarantee.minDeposit ?? terms.origin.amount;
  if (trade.origin === undefined) {
    const data = routerCalls.depositBalance(depository, user, deposited.address, minimum, terms.orderId);
    return [{ to: router, data, value: 0n }];
  }
  return depositCalls(
    {
      chain,
      user,
      paid: originCurrency,
      pulled: guarantee.maxInput,
      swap: trade.origin,
      received: deposited,
      minimum,
    },
    terms.orderId,
  );
}

function toWord(value: bigint): Hex32 {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
