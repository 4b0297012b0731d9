import type { Address, Chain, Hex, TxHash } from "@causeway/domain";
import {
  bytesOf,
  quantityOf,
  readBlock,
  readReceipt,
  readTransaction,
  toQuantity,
  type BlockRef,
  type ChainReader,
  type GasPrices,
  type IgnoredLog,
  type ReceiptFact,
  type TransactionState,
} from "@causeway/families/evm";
import { callUntrusted } from "./call-untrusted.ts";
import { createAccountReader } from "./account-reader.ts";
import { createDataFees } from "./data-fee.ts";
import { fetchDeposits } from "./deposit-logs.ts";
import {
  FEE_HISTORY_BLOCKS,
  FEE_HISTORY_PERCENTILE,
  type FeePolicy,
  gasPricesFrom,
  readFeeHistory,
} from "./gas-prices.ts";
import { readAccountBalances } from "./deposit-address-balances.ts";
import { readPaymentsTo } from "./deposit-address-payments.ts";
import { findNonceUser } from "./nonce-user.ts";
import { createLogNode } from "./range-logs.ts";
import { isMethodMissing } from "./rpc-errors.ts";
import { garbage, inconsistent, NodeRefusal } from "@causeway/families";
import { knownContractsOf } from "./known-contracts.ts";
import { simulateCall } from "./simulate.ts";
import { fetchTokenTopUps, fetchTopUps, topUpsOf } from "./top-up-reads.ts";
import { createTracer } from "./trace.ts";
import { watchedDepositsOf, type WatchedQuestion } from "./watched-deposits.ts";
import type { AttestationRules } from "./attestable.ts";
import type { RpcTransport } from "../nodes/transport.ts";

export interface ReaderOptions {
  /** The newest known head, if heads are followed. Accounts and gas prices are cached until it changes. */
  readonly knownHead?: () => BlockRef | undefined;
  /** Called with logs that look like deposits but are not. */
  readonly onIgnored?: (ignored: readonly IgnoredLog[]) => void;
  /** Called for each answer that contains unrequested logs, with their number. */
  readonly onUnrequestedLogs?: (count: number) => void;
  /** How oracles attest deposits. Absent: no hub is configured, so nothing is settled. */
  readonly attestation?: AttestationRules;
}

/** Reads one EVM chain. Does not check the chain id; the transport must do that, see `connect.ts`. */
export function createChainReader(
  chain: Pick<Chain, "id" | "contracts" | "tokens"> & { readonly fees: FeePolicy },
  transport: RpcTransport,
  options: ReaderOptions = {},
): ChainReader {
  const knownHead = options.knownHead ?? (() => undefined);
  const { depository, formerDepositories = [] } = chain.contracts;
  const question: WatchedQuestion = {
    depositories: [depository, ...formerDepositories],
    tokens: new Set(chain.tokens.map((token) => token.address)),
  };
  // Only these can top up app balances: the solver holds them and can pay them back, and they have a price.
  const bridgeable = new Set(
    chain.tokens.filter(({ supportsBridging }) => supportsBridging).map(({ address }) => address),
  );

  const blockAt = async (index: bigint | "latest"): Promise<BlockRef | undefined> => {
    const method = "eth_getBlockByNumber";
    const tag = index === "latest" ? index : toQuantity(index);
    const block = readBlock(await transport.request(method, [tag, false]), method);
    if (block !== undefined && index !== "latest" && block.number !== index) {
      throw garbage(method, "response concerns a different block");
    }
    return block;
  };
  const fetchHead = async (): Promise<BlockRef> => {
    const block = await blockAt("latest");
    if (block === undefined) throw garbage("eth_getBlockByNumber", "the node returned no latest block");
    return block;
  };
  let sharedHead: Promise<BlockRef> | undefined;
  /** Calls of one turn of the event loop share a request. */
  const head = async (): Promise<BlockRef> => {
    if (sharedHead === undefined)
      setImmediate(() => {
        sharedHead = undefined;
      });
    return await (sharedHead ??= fetchHead());
  };
  const receipt = async (hash: TxHash): Promise<ReceiptFact | undefined> =>
    readReceipt(await transport.request("eth_getTransactionReceipt", [hash]), hash);
  const accounts = createAccountReader(
    transport,
    { knownHead, freshHead: head },
    { multicall3: chain.contracts.multicall3 },
  );

  const fetchGasPrices = async (): Promise<GasPrices> => {
    const method = "eth_feeHistory";
    const params = [toQuantity(FEE_HISTORY_BLOCKS), "latest", [FEE_HISTORY_PERCENTILE]];
    const history = transport.request(method, params).then(readFeeHistory, (error: unknown) => {
      // The configured minimum applies if a node has no fee history.
      if (error instanceof NodeRefusal && isMethodMissing(error)) return undefined;
      throw error;
    });
    const [block, fees] = await Promise.all([head(), history]);
    return gasPricesFrom(block, fees, chain.fees);
  };
  let cachedGasPrices: { readonly hash: Hex; readonly prices: Promise<GasPrices> } | undefined;

  const logNode = createLogNode(options.onUnrequestedLogs);
  const dataFee = createDataFees(transport, chain.id);
  const trace = createTracer(transport, chain.id, knownContractsOf(chain));

  return {
    chainId: chain.id,
    remoteChainId: async () => Number(quantityOf(await transport.request("eth_chainId", []), "eth_chainId")),
    head,
    block: blockAt,
    blockByHash: async (hash) => {
      const method = "eth_getBlockByHash";
      const block = readBlock(await transport.request(method, [hash, false]), method);
      if (block !== undefined && block.hash !== hash)
        throw garbage(method, "response concerns a different block");
      return block;
    },
    depositsIn: async (range) => await fetchDeposits(transport, question, range, { ...options, logNode }),
    depositsOf: (state) => {
      if (state.kind !== "mined" || state.receipt.status !== "success") return [];
      return watchedDepositsOf(question, state.receipt, state.transaction);
    },
    topUpsIn: async (solver, blocks) =>
      await fetchTopUps(transport, { solver, tokens: bridgeable }, blocks, logNode),
    tokenTopUpsIn: async (solver, range) =>
      await fetchTokenTopUps(transport, { solver, tokens: bridgeable }, range, logNode),
    topUpsOf: (solver, state) =>
      state.kind === "mined"
        ? topUpsOf({ solver, tokens: bridgeable }, state.transaction, state.receipt)
        : [],
    transaction: async (hash): Promise<TransactionState> => {
      const method = "eth_getTransactionByHash";
      const [read, minedReceipt] = await Promise.all([
        transport.request(method, [hash]).then((answer) => readTransaction(answer, hash)),
        receipt(hash),
      ]);
      if (minedReceipt === undefined) {
        if (read === undefined) return { kind: "absent" };
        // One answer shows it in a block, but the other has no receipt: it is not pending, and its status is
        // unknown.
        if (read.blockHash !== undefined)
          throw inconsistent(method, "transaction is mined but has no receipt yet");
        return { kind: "pending", transaction: read.transaction };
      }
      if (read === undefined) throw inconsistent(method, "receipt without a transaction");
      // The transaction was read as pending just before its block arrived: not a contradiction.
      if (read.blockHash !== undefined && read.blockHash !== minedReceipt.blockHash) {
        throw inconsistent(method, "receipt and transaction are in different blocks");
      }
      return { kind: "mined", transaction: read.transaction, receipt: minedReceipt };
    },
    receipt,
    nonce: async (account, index) => {
      const method = "eth_getTransactionCount";
      return Number(quantityOf(await transport.request(method, [account, index]), method));
    },
    transactionByNonce: async (account, nonce, from, to) =>
      await findNonceUser(transport, account, nonce, from, to),
    gasPrices: async () => {
      const hash = knownHead()?.hash;
      if (hash === undefined) return await fetchGasPrices();
      if (cachedGasPrices?.hash !== hash) {
        const entry = { hash, prices: fetchGasPrices() };
        cachedGasPrices = entry;
        entry.prices.catch(() => {
          if (cachedGasPrices === entry) cachedGasPrices = undefined;
        });
      }
      return await cachedGasPrices.prices;
    },
    balances: async (account: Address, currencies: readonly Address[]) =>
      await accounts.balances(account, currencies),
    accountBalances: async (holders, currencies, atBlock) =>
      await readAccountBalances(transport, chain.contracts.multicall3, {
        accounts: holders,
        currencies,
        atBlock,
      }),
    paymentsTo: async (account, currency, from, to) =>
      await readPaymentsTo(transport, { account, currency }, { from, to }, logNode),
    accountState: async (account, currency, spender) => await accounts.state(account, currency, spender),
    hasCode: async (account) => {
      const method = "eth_getCode";
      return bytesOf(await transport.request(method, [account, "latest"]), method) !== "0x";
    },
    ask: async (to, data) => await callUntrusted(transport, to, data),
    simulate: async (from, call, fees) => await simulateCall(transport, from, call, fees),
    trace,
    dataFee,
  };
}
