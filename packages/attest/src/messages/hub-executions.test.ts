import type { Address, Hex32, OrderJson, VmType } from "@causeway/domain";
import { encodeOrder } from "@causeway/families";
import { expect, test } from "vitest";
import addressVector from "../../../../test/fixtures/oracle/hub-02-order-address.json" with { type: "json" };
import vector from "../../../../test/fixtures/oracle/hub-03-executions.json" with { type: "json" };
import { decodeHubAction } from "./hub-action.ts";
import { hubAlias, hubTokenId, withdrawalAddress } from "./hub-addressing.ts";
import type { HubChain } from "./hub-addressing.ts";
import {
  creditOf,
  depositExecution,
  fillActions,
  initiationExecution,
  NO_DEPOSIT_ID,
  refundActions,
  withdrawalExecution,
} from "./hub-executions.ts";
import type { HubDeposit } from "./hub-executions.ts";
import { withdrawRequestOf } from "./submit-withdraw-request.ts";

const { input, output } = vector;
const families = new Map(Object.entries(input.chains as Record<string, VmType>));
function familyOf(name: string): VmType {
  const family = families.get(name);
  if (family === undefined) throw new Error(`no chain is called ${name}`);
  return family;
}
const chainOf = (name: string): HubChain => ({ name, vmType: familyOf(name) });
const order = encodeOrder(input.order as OrderJson, familyOf);
const depositOf = (deposit: (typeof input.orderDeposits)[number]): HubDeposit => ({
  ...deposit,
  depositId: deposit.depositId as Hex32,
  timestamp: BigInt(deposit.timestamp),
  amount: BigInt(deposit.amount),
});
const credits = input.orderDeposits.map((deposit) => creditOf(chainOf(deposit.chain), depositOf(deposit)));

test("computes the mints of the recorded deposits", () => {
  const executions = input.deposits.map(({ chain, transactionId, part, deposits }) =>
    depositExecution(
      chainOf(chain),
      transactionId,
      part,
      deposits.map((deposit) => depositOf({ chain, ...deposit })),
    ),
  );
  expect(executions).toEqual(output.deposits);
});

test("computes the actions of the recorded fill and refund", () => {
  expect(fillActions(familyOf, order, credits)).toEqual(output.fill);
  expect(refundActions(familyOf, order, credits)).toEqual(output.refund);
});

test("computes the executions and the request of the recorded withdrawal", () => {
  const { hub, home: ownerChain, owner, chain, hubChainId, withdrawalId, ...rest } = input.withdrawal;
  const withdrawal = { ...rest, nonce: rest.nonce as Hex32, amount: BigInt(rest.amount) };
  const ownerAlias = hubAlias(chainOf(ownerChain), owner);
  const address = withdrawalAddress(chainOf(chain), { ...withdrawal, ownerAlias });
  const accounts = { ownerAlias, address, tokenId: hubTokenId(chainOf(chain), withdrawal.currency) };
  const { amount } = withdrawal;
  const id = withdrawalId as Hex32;
  expect(initiationExecution(hub, accounts, amount)).toEqual(output.initiation);
  expect(withdrawalExecution(id, "executed", accounts, amount)).toEqual(output.executed);
  expect(withdrawalExecution(id, "expired", accounts, amount)).toEqual(output.expired);
  const request = withdrawRequestOf({ ...withdrawal, address, hubChainId });
  expect({ ...request, chainId: String(request.chainId), amount: String(request.amount) }).toEqual(
    output.request,
  );
});

test("credits a deposit with an id to the order's account, any other to the depositor's", () => {
  const { chainId, depositor, timestamp, depositId } = addressVector.input;
  const chain = chainOf(chainId);
  const deposit = {
    depositor,
    timestamp: BigInt(timestamp),
    depositId: depositId as Hex32,
    currency: depositor,
    amount: 5n,
  };
  const token = { tokenId: hubTokenId(chain, depositor), amount: 5n };
  expect(creditOf(chain, deposit)).toEqual({ holder: addressVector.output.packed, ...token });
  const withoutId = { ...deposit, depositId: NO_DEPOSIT_ID };
  expect(creditOf(chain, withoutId)).toEqual({ holder: hubAlias(chain, depositor), ...token });
  expect(creditOf(chain, { ...withoutId, timestamp: 0n })).toEqual(creditOf(chain, withoutId));
});

test("a fill moves every whole deposit to the solver before the solver pays the fees, in order", () => {
  const solver = hubAlias(chainOf(order.solverChainId), order.solver);
  const moves = credits.map(({ holder, ...token }) => ({
    kind: "transfer",
    from: holder,
    to: solver,
    ...token,
  }));
  const fees = input.order.fees.map((fee) => ({
    kind: "transfer",
    from: solver,
    to: hubAlias(chainOf(fee.recipientChainId), fee.recipient),
    tokenId: hubTokenId(chainOf(fee.currencyChainId), fee.currency),
    amount: BigInt(fee.amount),
  }));
  expect(fees).toHaveLength(2);
  expect(fillActions(familyOf, order, credits).map(decodeHubAction)).toEqual([...moves, ...fees]);
  expect(refundActions(familyOf, order, credits).map(decodeHubAction)).toEqual(moves);
});

test("returns an expired withdrawal to its owner, and burns an executed one", () => {
  const account = (byte: string): Address => `0x${byte.repeat(20)}`;
  const accounts = { ownerAlias: account("0a"), address: account("0b"), tokenId: 7n };
  const [returned] = withdrawalExecution(NO_DEPOSIT_ID, "expired", accounts, 3n).actions;
  const [burned] = withdrawalExecution(NO_DEPOSIT_ID, "executed", accounts, 3n).actions;
  const [moved] = initiationExecution("hub", accounts, 3n).actions;
  const token = { tokenId: 7n, amount: 3n };
  const [from, to] = [accounts.address, accounts.ownerAlias];
  expect(decodeHubAction(returned!)).toEqual({ kind: "transfer", from, to, ...token });
  expect(decodeHubAction(burned!)).toEqual({ kind: "burn", from, ...token });
  expect(decodeHubAction(moved!)).toEqual({ kind: "transfer", from: to, to: from, ...token });
});
