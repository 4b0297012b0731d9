import { InsufficientInventory, RpcFault } from "@causeway/chains";
import type {
  DepositFact,
  PayingConnection,
  NonEvmArrivals,
  NonEvmAttempt,
  NonEvmOutcome,
  NonEvmPayment,
} from "@causeway/chains";
import type { Hex, Hex32, VmType } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { fakeBytes, fakeTransaction } from "./fake-non-evm-chain.ts";
import type { FakeBlock, FakePayment, FakeNonEvmChain, FakeView } from "./fake-non-evm-chain.ts";

/** The number of blocks in which expiring bytes can be mined. */
const LIFETIME = 10n;
/** How many blocks before the newest final block a first scan starts. */
const LOOK_BACK = 16n;

/** An adapter of a fake chain, like the adapters of real chain families. A chain can have several. */
export function createFakeConnection(
  chain: FakeNonEvmChain,
  { vm, solver, now }: { readonly vm: VmType; readonly solver: Hex; now(): number },
): PayingConnection {
  const ask = async <T>(method: string, read: (view: FakeView) => T): Promise<T> => {
    if (chain.isDown) throw new RpcFault({ kind: "network", method, reason: "no connection" });
    return read(chain.view());
  };
  return {
    vm,
    solver,
    canReplace: chain.kind === "outputs",
    canCancel: chain.kind === "outputs",
    arrivals: (cursor) =>
      ask("arrivals", (view): NonEvmArrivals => {
        const first = cursor === undefined ? larger(0n, view.finalHeight - LOOK_BACK) : BigInt(cursor) + 1n;
        const start = chain.repeatsDeposits ? 0n : first;
        const blocks = view.blocks.filter(({ number }) => number >= start && number <= view.finalHeight);
        const upTo = view.blocks.find(({ number }) => number === larger(view.finalHeight, 0n));
        if (upTo === undefined) throw new Error("the chain has no first block");
        return {
          deposits: blocks.flatMap(depositsIn),
          cursor: String(larger(view.finalHeight, cursor === undefined ? -1n : BigInt(cursor))),
          ...(cursor === undefined && { startedAt: String(first - 1n) }),
          upTo,
        };
      }),
    arrivalsOf: (id) =>
      ask("arrivalsOf", ({ blocks, finalHeight }) => {
        const block = blockOf(blocks, id);
        if (block === undefined) return chain.isPooled(id) ? { kind: "notFinal" } : { kind: "absent" };
        if (block.number > finalHeight) return { kind: "notFinal" };
        const deposits = depositsIn(block).filter(({ txHash }) => txHash === id);
        return { kind: "final", deposits, upTo: blocks.at(-1) ?? block };
      }),
    balances: (currencies) =>
      ask(
        "balances",
        (view) => new Map(currencies.map((currency) => [currency, chain.balance(currency, view)])),
      ),
    paymentCost: () => ask("paymentCost", () => chain.cost),
    refusalOf: ({ recipient }) => ask("refusalOf", () => chain.refusalFor(recipient)),
    prepare: (payment, earlierAttempts, reserved) =>
      ask("prepare", (view) => {
        const prepared =
          chain.kind === "outputs"
            ? withOutputs(chain, view, payment, earlierAttempts, reserved)
            : withExpiry(chain, view, payment, earlierAttempts, reserved);
        const raw = fakeBytes(prepared);
        return { raw, txId: chain.idOf(raw), fee: prepared.fee, madeAtMs: now() };
      }),
    isPayment: ({ raw, txId }, { recipient, currency, amount, orderId }) =>
      ask("isPayment", () => {
        const { to, id, ...encoded } = paymentIn(raw);
        const isSame = encoded.currency === currency && encoded.amount === amount && to === recipient;
        return isSame && id === orderId && txId === chain.idOf(raw);
      }),
    send: ({ raw }) =>
      ask("send", () => {
        if (chain.refusal !== undefined) return { refused: chain.refusal };
        if (!chain.losesBytes) chain.addToPool(raw);
        return "sent";
      }),
    outcome: (attempt) => ask("outcome", (view) => outcomeOf(chain, view, attempt)),
    onNews: (listener) => chain.onNews(listener),
    close: async () => undefined,
  };
}

function paymentIn(raw: Hex): FakePayment {
  const transaction = fakeTransaction(raw);
  if (transaction.type !== "payment") throw new Error("the bytes are not a payment");
  return transaction;
}

function withExpiry(
  chain: FakeNonEvmChain,
  view: FakeView,
  payment: NonEvmPayment,
  earlierAttempts: readonly NonEvmAttempt[],
  reserved: readonly Hex[],
): FakePayment {
  const liveAttempts = earlierAttempts.filter((attempt) => outcomeOf(chain, view, attempt).kind !== "dead");
  if (liveAttempts.length > 0)
    throw new RpcFault({
      kind: "inconsistent",
      method: "prepare",
      reason: "the previous attempt may still be mined",
    });
  const fee = chain.cost;
  const pendingPayments = reserved
    .filter((raw) => blockOf(view.blocks, chain.idOf(raw)) === undefined)
    .map(paymentIn);
  const reservedAmount = (currency: Hex): bigint =>
    pendingPayments.reduce(
      (sum, pending) =>
        sum +
        (pending.currency === currency ? pending.amount : 0n) +
        (currency === chain.native ? pending.fee : 0n),
      0n,
    );
  const needed = payment.amount + (payment.currency === chain.native ? fee : 0n);
  if (chain.balance(payment.currency, view) < reservedAmount(payment.currency) + needed)
    throw new InsufficientInventory("insufficient balance");
  return { ...paymentWith(payment, fee), lastHeight: BigInt(view.blocks.length) + LIFETIME };
}

function withOutputs(
  chain: FakeNonEvmChain,
  view: FakeView,
  payment: NonEvmPayment,
  earlierAttempts: readonly NonEvmAttempt[],
  reserved: readonly Hex[],
): FakePayment {
  // Each attempt costs more than the previous one, so that nodes accept it as a replacement.
  const fee = chain.cost * BigInt(earlierAttempts.length + 1);
  const [first] = earlierAttempts;
  const reservedOutputs = new Set(reserved.flatMap((raw) => paymentIn(raw).outputs ?? []));
  const unspent = new Map(chain.outputs(view).map(({ id, amount }) => [id, amount]));
  // An output that all attempts at one payment spend, so that only one of them can be mined.
  const [shared] = first === undefined ? [] : (paymentIn(first.raw).outputs ?? []);
  const outputs: Hex32[] = [];
  let sum = 0n;
  const spend = (id: Hex32): void => {
    outputs.push(id);
    sum += unspent.get(id) ?? 0n;
  };
  if (shared !== undefined) spend(shared);
  const outputIds = [...unspent.keys()];
  const start = chain.nextOutput++ % Math.max(1, outputIds.length);
  for (const id of [...outputIds.slice(start), ...outputIds.slice(0, start)]) {
    if (sum >= payment.amount + fee) break;
    if (id !== shared && !reservedOutputs.has(id)) spend(id);
  }
  if (sum < payment.amount + fee) throw new InsufficientInventory("insufficient unspent outputs");
  return { ...paymentWith(payment, fee), outputs };
}

function paymentWith({ recipient, currency, amount, orderId }: NonEvmPayment, fee: bigint): FakePayment {
  const salt = randomBytes(8).toString("hex");
  return {
    type: "payment",
    to: recipient,
    currency,
    amount,
    fee,
    salt,
    ...(orderId !== undefined && { id: orderId }),
  };
}

function outcomeOf(
  chain: FakeNonEvmChain,
  { blocks, finalHeight }: FakeView,
  { raw, txId }: NonEvmAttempt,
): NonEvmOutcome {
  const block = blockOf(blocks, txId);
  if (block !== undefined)
    return {
      kind: block.number <= finalHeight ? "final" : "mined",
      block: { number: block.number, hash: block.hash },
    };
  const { lastHeight, outputs } = paymentIn(raw);
  if (lastHeight !== undefined && finalHeight > lastHeight) return { kind: "dead", reason: "expired" };
  if (outputs !== undefined) {
    const final = blocks.filter(({ number }) => number <= finalHeight);
    const unspent = new Set(chain.outputs({ blocks: final, finalHeight }).map(({ id }) => id));
    const existing = new Set(chain.outputs({ blocks, finalHeight }).map(({ id }) => id));
    // A missing output may also come from a block that is not final yet; then it is not spent.
    const spent = outputs.some(
      (output) => !unspent.has(output) && !existing.has(output) && wasUnspentBefore(chain, final, output),
    );
    if (spent) return { kind: "dead", reason: "another transaction spent its outputs" };
  }
  return { kind: chain.isPooled(txId) ? "pending" : "unseen" };
}

function wasUnspentBefore(chain: FakeNonEvmChain, final: readonly FakeBlock[], output: Hex32): boolean {
  for (let height = 0; height <= final.length; height++) {
    const blocks = final.slice(0, height);
    if (chain.outputs({ blocks, finalHeight: 0n }).some(({ id }) => id === output)) return true;
  }
  return false;
}

function depositsIn({ number, hash, timestamp, transactions }: FakeBlock): DepositFact[] {
  return transactions.flatMap(({ id: txHash, transaction }) => {
    if (transaction.type !== "deposit") return [];
    const { from, depositor = from, currency, amount, depository, id, nonce } = transaction;
    const fact: DepositFact = {
      txHash,
      ordinal: 0,
      logIndex: 0,
      blockNumber: number,
      blockHash: hash,
      depositor,
      sender: from,
      currency,
      amount,
      ...(depository !== undefined && { depository }),
      id,
      timestamp,
      ...(nonce !== undefined && { nonce }),
    };
    return [fact];
  });
}

function blockOf(blocks: readonly FakeBlock[], id: Hex): FakeBlock | undefined {
  return blocks.find(({ transactions }) => transactions.some((mined) => mined.id === id));
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
