import {
  depositsInLogs,
  gasPricesFrom,
  nativeTopUp,
  tokenTopUps,
  type BlockRef,
  type ChainReader,
  type ChainWriter,
  type FeeCaps,
  type LogFact,
  type TransactionFact,
  type TransactionState,
} from "@causeway/chains";
import type { Address, Hex, SimulationFailure, TxHash } from "@causeway/domain";
import { readSigned, type MemoryBlock, type MemoryChain } from "./memory-chain.ts";
import { NATIVE, allowanceKey, nonceKey, type Frame } from "./memory-evm.ts";
import type { MinedTransaction } from "./sequence-chain.ts";

/** The ports through which the service sees a chain, over a chain in memory. */

const refOf = ({ number, hash, parentHash, timestamp, baseFeePerGas }: MemoryBlock): BlockRef => ({
  number,
  hash,
  parentHash,
  timestamp,
  baseFeePerGas,
});

export function memoryReader(memory: MemoryChain): ChainReader {
  const { chain } = memory;
  const question = {
    depository: chain.contracts.depository,
    tokens: new Set(chain.tokens.map(({ address }) => address)),
  };
  const bridgedTokens = new Set(
    chain.tokens.filter(({ supportsBridging }) => supportsBridging).map(({ address }) => address),
  );
  const at = (number: bigint): MemoryBlock | undefined => memory.blocks[Number(number)];
  const minedIn = (from: bigint, to: bigint): readonly MinedTransaction[] =>
    memory.blocks.slice(Number(from), Number(to) + 1).flatMap(({ transactions }) => transactions);
  const factsOf = (
    mined: readonly MinedTransaction[],
  ): { readonly logs: readonly LogFact[]; readonly transactions: ReadonlyMap<Hex, TransactionFact> } => ({
    logs: mined.flatMap(({ receipt }) => receipt.logs),
    transactions: new Map(mined.map(({ transaction }) => [transaction.hash, transaction])),
  });
  const nonceOf = (account: Address): number => Number(memory.tip.after.get(nonceKey(account)) ?? 0n);
  const topUpsAmong = (solver: Address, mined: readonly MinedTransaction[]) => {
    const { logs, transactions } = factsOf(mined);
    const tokens = tokenTopUps({ solver, tokens: bridgedTokens }, logs, transactions);
    const native = mined.flatMap(
      ({ transaction, receipt }) => nativeTopUp(solver, transaction, receipt) ?? [],
    );
    return [...tokens, ...native];
  };
  const stateOf = (hash: TxHash): TransactionState => {
    const mined = memory.mined(hash);
    if (mined !== undefined) return { kind: "mined", transaction: mined.transaction, receipt: mined.receipt };
    const pending = memory.pool.find((transaction) => transaction.hash === hash);
    return pending === undefined ? { kind: "absent" } : { kind: "pending", transaction: pending };
  };
  const lacksFunds = (from: Address, value: bigint, gas: bigint, fees: FeeCaps | undefined): boolean =>
    memory.balance(NATIVE, from) < value + (fees === undefined ? 0n : gas * fees.maxFeePerGas);
  const frameOf = (from: Address, call: Omit<Frame, "from">): Frame => ({
    from,
    to: call.to,
    value: call.value,
    data: call.data,
  });

  return {
    chainId: chain.id,
    remoteChainId: async () => chain.id,
    head: async () => refOf(memory.tip),
    block: async (number) => {
      const block = at(number);
      return block && refOf(block);
    },
    blockByHash: async (hash) => {
      const block = memory.blockByHash(hash);
      return block && refOf(block);
    },
    depositsIn: async ({ from, to }) => {
      const { logs, transactions } = factsOf(minedIn(from, to));
      return [...depositsInLogs(question, logs, transactions).deposits];
    },
    depositsOf: (state) => {
      if (state.kind !== "mined" || state.receipt.status !== "success") return [];
      const { receipt, transaction } = state;
      return [...depositsInLogs(question, receipt.logs, new Map([[receipt.txHash, transaction]])).deposits];
    },
    topUpsIn: async (solver, blocks) =>
      topUpsAmong(
        solver,
        blocks.flatMap(({ hash }) => memory.blockByHash(hash)?.transactions ?? []),
      ),
    tokenTopUpsIn: async (solver, { from, to }) => {
      const { logs, transactions } = factsOf(minedIn(from, to));
      return tokenTopUps({ solver, tokens: bridgedTokens }, logs, transactions);
    },
    topUpsOf: (solver, state) =>
      state.kind === "mined"
        ? topUpsAmong(
            solver,
            [memory.mined(state.transaction.hash)].filter((mined) => mined !== undefined),
          )
        : [],
    transaction: async (hash) => stateOf(hash),
    receipt: async (hash) => memory.mined(hash)?.receipt,
    nonce: async (account, tag) =>
      nonceOf(account) + (tag === "latest" ? 0 : memory.pool.filter(({ from }) => from === account).length),
    transactionByNonce: async (account, nonce, from, to) =>
      minedIn(from, to).find(({ transaction }) => transaction.from === account && transaction.nonce === nonce)
        ?.transaction.hash,
    gasPrices: async () =>
      gasPricesFrom(refOf(memory.tip), { nextBaseFeePerGas: memory.baseFeePerGas, rewards: [] }, chain.fees),
    balances: async (account, currencies) => ({
      blockNumber: memory.tip.number,
      balances: new Map(currencies.map((currency) => [currency, memory.balance(currency, account)])),
    }),
    accountBalances: async (accounts, currencies, atBlock) => {
      const cells = at(atBlock)?.after;
      return accounts.flatMap((account) =>
        currencies.map((currency) => ({
          account,
          currency,
          amount: cells?.get(`balance:${currency}:${account}`) ?? 0n,
        })),
      );
    },
    paymentsTo: async (account, currency, from, to) =>
      minedIn(from, to).flatMap(({ movements, transaction }) =>
        movements.flatMap((moved) => {
          if (moved.to !== account || moved.currency !== currency) return [];
          // The real reader cannot see native tokens that a contract sent.
          if (currency === NATIVE && transaction.to !== account) return [];
          return [{ from: moved.from, amount: moved.amount }];
        }),
      ),
    accountState: async (account, currency, spender) => ({
      blockNumber: memory.tip.number,
      balance: memory.balance(currency, account),
      allowance:
        currency === NATIVE
          ? 2n ** 256n - 1n
          : (memory.tip.after.get(allowanceKey(currency, account, spender)) ?? 0n),
    }),
    hasCode: async (account) =>
      memory.try({ from: account, to: account, value: 0n, data: "0x" }).run.codeAt(account) !== undefined,
    dataFee: async () => 0n,
    ask: async (to, data) => {
      const { reverted, output } = memory.try({ from: NATIVE, to, value: 0n, data });
      return reverted === undefined ? output : undefined;
    },
    simulate: async (from, call, fees) => {
      const { run, reverted } = memory.try(frameOf(from, call));
      if (lacksFunds(from, call.value, run.gas, fees)) return { kind: "insufficientFunds" };
      return reverted === undefined
        ? { kind: "ok", gas: run.gas }
        : { kind: "reverts", data: "0x", reason: reverted };
    },
    trace: async (from, call, fees) => {
      const { run, reverted } = memory.try(frameOf(from, call));
      const limit = call.gas ?? run.gas;
      if (lacksFunds(from, call.value, limit, fees)) return { kind: "insufficientFunds" };
      if (reverted !== undefined || run.gas > limit)
        return { kind: "reverts", failure: failureOf(call.to, reverted ?? "out of gas") };
      const accounts = new Map(
        [
          from,
          ...run.movements
            .filter(({ currency }) => currency === NATIVE)
            .flatMap((movement) => [movement.from, movement.to]),
        ].map((account) => {
          const nonce = BigInt(nonceOf(account));
          const balanceBefore = memory.balance(NATIVE, account);
          const gasPaid = account === from ? run.gas * fees.maxFeePerGas : 0n;
          return [
            account,
            {
              balanceBefore,
              balanceAfter: run.balance(NATIVE, account) - gasPaid,
              nonceBefore: nonce,
              nonceAfter: account === from ? nonce + 1n : nonce,
              codeChanged: false,
            },
          ] as const;
        }),
      );
      return {
        kind: "ok",
        gas: run.gas,
        gasUsed: run.gas,
        effects: { kind: "seen", logs: run.logs, accounts },
        calls: run.inner,
      };
    },
  };
}

function failureOf(address: Address, reason: string): SimulationFailure {
  const frame = { type: "CALL", address };
  return {
    label: "EXECUTION_REVERTED",
    message: reason,
    details: {
      topLevel: frame,
      innermost: frame,
      path: [frame],
      revert: { type: "errorString", label: "EXECUTION_REVERTED", message: reason, name: reason },
    },
  };
}

export function memoryWriter(memory: MemoryChain): ChainWriter {
  return {
    broadcast: async (raw) => {
      const transaction = readSigned(raw);
      if (transaction.chainId !== memory.chain.id) return { kind: "rejected", reason: "invalid chain id" };
      const { hash, from, nonce } = transaction;
      if (memory.mined(hash) !== undefined || memory.pool.some((pooled) => pooled.hash === hash))
        return { kind: "alreadyKnown" };
      if (nonce < Number(memory.tip.after.get(nonceKey(from)) ?? 0n)) return { kind: "nonceTooLow" };
      const replaced = memory.pool
        .filter((pooled) => pooled.from === from && pooled.nonce === nonce)
        .toSorted((a, b) => (a.maxFeePerGas > b.maxFeePerGas ? -1 : 1))[0];
      if (replaced !== undefined && transaction.maxFeePerGas * 10n < replaced.maxFeePerGas * 11n)
        return { kind: "underpriced" };
      if (memory.balance(NATIVE, from) < transaction.value + transaction.gas * transaction.maxFeePerGas)
        return { kind: "insufficientFunds" };
      memory.add(transaction);
      return { kind: "accepted" };
    },
  };
}
