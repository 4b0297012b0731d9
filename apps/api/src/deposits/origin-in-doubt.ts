import type { TransactionState } from "@causeway/chains";
import type { RequestTerms, TxHash } from "@causeway/domain";
import { formatTransactionId } from "@causeway/families";
import type { ConnectedChain, ConnectedNonEvmChain, AnyConnectedChain } from "../chains/chains.port.ts";
import type { FastFillRequest } from "../balances/fast-fill.port.ts";
import type { RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { withinNodeLimit } from "../db/within-node-limit.ts";
import { connectedChainOf, perKind } from "../http/connected-chain.ts";
import { refusal } from "./fast-fill-refusals.ts";
import { findDepositProblem, judgeOrigin, UNREAD_SENDER } from "./judge-origin.ts";
import { readReport } from "./reported-transaction.ts";
import type { OriginProblem, SenderFacts } from "./judge-origin.ts";

type Needs = Pick<Services, "chains" | "reads">;

/**
 * Refuses a fast fill unless one of the request's origin transactions can become the agreed deposit: the one
 * that the app names, or any reported before (a wallet may have replaced a stuck one). If none is known, only
 * keys with the rule `allowUnsubmitted` may fast fill.
 * @throws ServiceError FAST_FILL_REFUSED; INVALID_REQUEST for a malformed `txHash`; RpcFault
 */
export async function refuseDoubtfulOrigin(
  services: Needs,
  request: RequestRecord,
  { key, txHash: namedTxHash }: Pick<FastFillRequest, "key" | "txHash">,
): Promise<void> {
  // In any other state, the deposit is mined already, or the service's own transaction makes it.
  if (request.state.name !== "quoted") return;
  const { requestId, origin, depositAddress } = request.terms;
  // The service's own sweep makes the deposit.
  if (depositAddress !== undefined) return;
  const connected = connectedChainOf(services.chains, origin.chainId);
  if (connected === undefined) return;
  const hashes =
    namedTxHash === undefined
      ? await services.reads.originTransactions(requestId)
      : [readReport(services.chains, { chainId: origin.chainId, txHash: namedTxHash }).txHash];
  if (hashes.length === 0 && key.rules.allowUnsubmitted !== true)
    throw refusal(
      "originTransactionMissing",
      requestId,
      "No origin transaction of the request is known; send its txHash, report it to POST /transactions/index, or set the rule allowUnsubmitted of the API key",
    );
  let first: { readonly hash: TxHash; readonly problem: OriginProblem } | undefined;
  for (const hash of hashes) {
    const problem = await originProblem(connected, request, hash, key.rules.allowUnsubmitted === true);
    if (problem === undefined) return;
    first ??= { hash, problem };
  }
  if (first === undefined) return;
  const { hash, problem } = first;
  const txHash = formatTransactionId(connected.chain, hash);
  throw refusal(problem.rule, requestId, `Origin transaction ${txHash} ${problem.reason}`, { txHash });
}

async function originProblem(
  connected: AnyConnectedChain,
  request: RequestRecord,
  hash: TxHash,
  allowsUnsubmitted: boolean,
): Promise<OriginProblem | undefined> {
  return await perKind(connected, {
    evm: async (evmChain) => await evmOriginProblem(evmChain, request, hash),
    nonEvm: async (nonEvmChain) => await nonEvmOriginProblem(nonEvmChain, request, hash, allowsUnsubmitted),
  });
}

/**
 * Non-EVM connections read deposits only once they are final. Until then, the transaction's content is
 * unknown and it may be replaced, so only apps whose key has the rule `allowUnsubmitted` may fast fill.
 */
async function nonEvmOriginProblem(
  { chain, connection }: ConnectedNonEvmChain,
  { terms }: RequestRecord,
  hash: TxHash,
  allowsUnsubmitted: boolean,
): Promise<OriginProblem | undefined> {
  const arrivals = await withinNodeLimit(chain, "txHash", async () => await connection.arrivalsOf(hash));
  if (arrivals.kind === "notFinal")
    return allowsUnsubmitted
      ? undefined
      : {
          rule: "originNotFinal",
          reason: `is not final; deposits on ${chain.displayName} can be checked only once final. To fast fill earlier, the API key needs the rule allowUnsubmitted`,
        };
  return arrivals.kind === "absent"
    ? { rule: "originTransactionUnknown", reason: "is not known to the chain" }
    : findDepositProblem(terms, chain, arrivals.deposits);
}

async function evmOriginProblem(
  connected: ConnectedChain,
  { terms }: RequestRecord,
  hash: TxHash,
): Promise<OriginProblem | undefined> {
  const { chain, connection } = connected;
  const state = await connection.reader.transaction(hash);
  if (state.kind === "mined") return await minedOriginProblem(connected, terms, state);
  return judgeOrigin(terms, chain, state, await senderFacts(connected, terms, state));
}

type MinedState = Extract<TransactionState, { kind: "mined" }>;

/**
 * Reads the deposits of a mined transaction as the watcher does: a deposit that the watcher would refund must
 * not be fast filled.
 */
async function minedOriginProblem(
  { chain, connection: { reader } }: ConnectedChain,
  terms: RequestTerms,
  state: MinedState,
): Promise<OriginProblem | undefined> {
  const { blockNumber, blockHash, txHash } = state.receipt;
  const block = { from: blockNumber, to: blockNumber, hashes: new Map([[blockNumber, blockHash]]) };
  const inBlock = reader.depositsOf(state).length === 0 ? [] : await reader.depositsIn(block);
  const deposits = inBlock.filter((deposit) => deposit.txHash === txHash);
  return judgeOrigin(terms, chain, state, { ...UNREAD_SENDER, deposits });
}

/** Chain state of the sender of a pending transaction, and its simulation. */
async function senderFacts(
  { chain, connection: { reader }, pulse }: ConnectedChain,
  { user, origin, input: paid }: RequestTerms,
  state: Exclude<TransactionState, { kind: "mined" }>,
): Promise<SenderFacts> {
  if (state.kind === "absent") return { ...UNREAD_SENDER, deposits: [] };
  const { from, to, input, value, nonce, maxFeePerGas } = state.transaction;
  const [nextNonce, nextPendingNonce, { balance }] = await Promise.all([
    reader.nonce(from, "latest", "highest"),
    reader.nonce(from, "pending"),
    reader.accountState(user, (paid ?? origin).currency, chain.contracts.depository),
  ]);
  const { baseFeePerGas } = pulse.gasPrices();
  // If other transactions of the sender come first, the result is unknown: one of them may be an approval.
  const canRunNow = nonce === nextNonce && (maxFeePerGas === undefined || maxFeePerGas >= baseFeePerGas);
  const simulation =
    canRunNow && to !== undefined
      ? await reader.simulate(
          from,
          { to, data: input, value },
          maxFeePerGas === undefined ? undefined : { maxFeePerGas, maxPriorityFeePerGas: 0n },
        )
      : undefined;
  return { nextNonce, nextPendingNonce, baseFeePerGas, simulation, balance, deposits: [] };
}
