import type { Address, Hex32, Order, RequestId, RequestTerms } from "@causeway/domain";
import { NATIVE_CURRENCY, orderIdOf } from "@causeway/domain";
import type { Chain } from "@causeway/domain";
import type { LaneCall } from "../../db/leg.port.ts";

/** How long a call may wait for its block (ms): apps no longer expect it after that. */
export const CALL_LIFETIME_MS = 600_000;

/** The terms of a call without a quote: its order is empty. */
export function callTerms({
  requestId,
  salt,
  chain,
  solver,
  solverChainName,
  call,
  user,
  referrer,
  nowMs,
}: {
  readonly requestId: RequestId;
  readonly salt: Hex32;
  readonly chain: Chain;
  readonly solver: Address;
  readonly solverChainName: string;
  readonly call: LaneCall;
  readonly user: Address | undefined;
  readonly referrer: string;
  readonly nowMs: number;
}): RequestTerms {
  const deadlineMs = nowMs + CALL_LIFETIME_MS;
  const order: Order = {
    version: "v1",
    solverChainId: solverChainName,
    solver,
    salt,
    inputs: [],
    output: {
      chainId: chain.name,
      payments: [],
      calls: [],
      deadline: Math.ceil(deadlineMs / 1000),
      extraData: "0x",
    },
    fees: [],
  };
  const account = user ?? call.to;
  return {
    requestId,
    orderId: orderIdOf(order),
    kind: "call",
    tradeType: "EXACT_INPUT",
    user: account,
    recipient: call.to,
    refundTo: account,
    origin: { chainId: chain.id, currency: NATIVE_CURRENCY, amount: call.value },
    destination: {
      chainId: chain.id,
      currency: NATIVE_CURRENCY,
      expectedAmount: 0n,
      minimumAmount: 0n,
    },
    inputUsd: 0n,
    explicitDeposit: true,
    createdAtMs: nowMs,
    firmUntilMs: nowMs,
    fillDeadlineMs: deadlineMs,
    referrer,
    forceRefund: false,
    order,
  };
}
