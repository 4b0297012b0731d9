import type { Address, Hex, TxHash } from "@causeway/domain";
import { depositErc20Calldata, depositNativeCalldata } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import { encodeFunctionData, erc20Abi } from "viem";
import { indexTransaction } from "../../apps/api/src/deposits/index-transaction.ts";
import type { ActionOf, Outcome, PaymentWay } from "./action.ts";
import { allowRefusal } from "./allow-refusal.ts";
import { currencyAt, pick, worth } from "./lookups.ts";
import { NATIVE, lower } from "./memory-evm.ts";
import type { Quoted, SequenceWorld } from "./world.ts";

export const transferData = (to: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });

/** Pays a quote exactly, or in a way that deviates from it. */
export async function pay(
  world: SequenceWorld,
  { quote, way, isReported }: ActionOf<"pay">,
): Promise<Outcome> {
  const quoted = pick(world.quotes, quote);
  if (quoted === undefined) return "skipped";
  const { terms } = quoted;
  const { memory, chain } = world.chainOf(terms.origin.chainId);
  if (terms.depositAddress !== undefined) {
    const { currency, amount } = paidAmount(quoted, way, world);
    const from = way === "stranger" ? (world.users[2] ?? NATIVE) : terms.user;
    await sendTo(world, terms.origin.chainId, from, terms.depositAddress.address, currency, amount);
    return "done";
  }
  if (terms.kind !== "bridge" && way !== "exact" && way !== "stranger" && way !== "unknownOrder")
    return "skipped";
  const calls =
    way === "exact" || way === "stranger"
      ? transactionsOf(quoted.answer.steps).map((step) => ({
          to: lower(step.to as string),
          data: step.data as Hex,
          value: BigInt(step.value),
        }))
      : [
          terms.kind === "bridge"
            ? depositOf(quoted, way, chain.contracts.depository, world)
            : paymentWithoutId(quoted),
        ];
  let hash: TxHash | undefined;
  for (const call of calls)
    hash = await memory.send(way === "stranger" ? (world.users[2] ?? NATIVE) : terms.user, call);
  if (isReported && hash !== undefined)
    return await allowRefusal(world, async () => {
      await indexTransaction(world.api, { chainId: chain.id, txHash: hash, requestId: terms.requestId });
    });
  return "done";
}

/** What the user pays: the quoted amount, or one that deviates as `way` says. */
function paidAmount(
  { terms }: Quoted,
  way: PaymentWay,
  world: SequenceWorld,
): { readonly currency: Address; readonly amount: bigint } {
  const { amount, currency, chainId } = terms.origin;
  if (way === "wrongCurrency") {
    const side = chainId === world.chains[0].chain.id ? 0 : 1;
    const asset = currency === NATIVE ? "usdc" : "eth";
    return { currency: currencyAt(world, side, asset), amount: worth(world, side, asset, 10) };
  }
  const amounts = {
    exact: amount,
    stranger: amount,
    unknownOrder: amount,
    less: amount / 2n,
    more: amount + amount / 10n,
  };
  return { currency, amount: way === "dust" ? 1n : amounts[way] };
}

/** The quoted payment on one chain without the request's id, which must not count for the request. */
function paymentWithoutId({ terms: { origin, recipient } }: Quoted): {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
} {
  const { currency, amount } = origin;
  return currency === NATIVE
    ? { to: recipient, data: "0x", value: amount }
    : { to: currency, data: transferData(recipient, amount), value: 0n };
}

/** The call that makes a deposit which deviates as `way` says. */
function depositOf(
  quoted: Quoted,
  way: PaymentWay,
  depository: Address,
  world: SequenceWorld,
): { readonly to: Address; readonly data: Hex; readonly value: bigint } {
  const { user, orderId } = quoted.terms;
  const { currency, amount } = paidAmount(quoted, way, world);
  const id = way === "unknownOrder" ? world.bytes32() : orderId;
  return currency === NATIVE
    ? { to: depository, data: depositNativeCalldata(user, id), value: amount }
    : { to: depository, data: depositErc20Calldata(user, currency, amount, id), value: 0n };
}

/** Transfers a currency between accounts. */
export async function sendTo(
  world: SequenceWorld,
  chainId: number,
  from: Address,
  to: Address,
  currency: Address,
  amount: bigint,
): Promise<void> {
  const { memory } = world.chainOf(chainId);
  if (currency === NATIVE) await memory.send(from, { to, value: amount });
  else await memory.send(from, { to: currency, data: transferData(to, amount) });
}

/** A client reports a transaction for a request, whether or not it is the request's. */
export async function report(
  world: SequenceWorld,
  { quote, transaction }: ActionOf<"report">,
): Promise<Outcome> {
  const quoted = pick(world.quotes, quote);
  if (quoted === undefined) return "skipped";
  const { memory, chain } = world.chainOf(quoted.terms.origin.chainId);
  const allTransactions = [
    ...memory.blocks.flatMap(({ transactions }) => transactions.map((mined) => mined.transaction)),
    ...memory.pool,
  ];
  const reported = pick(allTransactions, transaction);
  if (reported === undefined) return "skipped";
  await indexTransaction(world.api, {
    chainId: chain.id,
    txHash: reported.hash,
    requestId: quoted.requestId,
  });
  return "done";
}
