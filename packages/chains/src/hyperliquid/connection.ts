import {
  HYPERLIQUID_WALLET_CHAIN,
  nonceMappingTypedData,
  parseAddress,
  parseHyperliquidToken,
  type Address,
  type Hex,
} from "@causeway/domain";
import { privateKeyToAddress, signTypedData } from "viem/accounts";
import type { NonEvmConnection, OpenConnection } from "../non-evm-connection.ts";
import { observed, type NonEvmOptions } from "../non-evm-options.ts";
import { depositIn, purposeOf, type HyperliquidTransaction } from "@causeway/families/hyperliquid";
import { createPayments, type HyperliquidPaymentsOptions } from "./pay.ts";
import { createArrivalsReader, type ArrivalsReaderOptions } from "./arrivals.ts";
import { createHyperliquidRpc } from "./rpc.ts";
import { rpcsFor } from "./shared-rpc.ts";
import { nonceOfSigned } from "./signed-action.ts";

/** Milliseconds between two polls. Hyperliquid limits the number of requests. */
const POLL_INTERVAL_MS = 2_000;
/**
 * Maximum number of transactions in one reading of a rate-limited endpoint. A reading is stored only when
 * complete.
 */
const MAX_RATE_LIMITED_TRANSACTIONS = 16;

/**
 * Connects the service to Hyperliquid: deposits are read from the depositories' ledgers and judged like
 * oracles do; payments are the solver's own transfers. Connects at the first request.
 * @throws RangeError for a chain other than Hyperliquid, or without a depository
 */
export function connectHyperliquid(options: NonEvmOptions): OpenConnection {
  const { chain, attestation, nonceMappings } = options;
  const { hyperliquid } = attestation;
  const { exchange } = chain;
  if (hyperliquid === undefined || exchange === undefined)
    throw new RangeError(`invariant violated: chain ${chain.name} is not Hyperliquid`);
  if (hyperliquid.profile !== exchange.profile || (hyperliquid.network === "Testnet") !== exchange.isTestnet)
    throw new RangeError(
      `chain ${chain.name}: signingProfile or exchangeNetwork differs from its value in additionalData, which oracles read`,
    );
  const primary = parseAddress(chain.depository);
  if (primary === undefined) throw new RangeError(`chain ${chain.name} has no depository`);
  const additional = attestation.additionalDepositories.flatMap((address) => parseAddress(address) ?? []);
  const depositories: readonly [Address, ...Address[]] = [
    primary,
    ...additional.filter((address) => address !== primary),
  ];

  const [explorerUrl] = hyperliquid.explorerUrls;
  const endpoint = createHyperliquidRpc({
    apiUrl: chain.rpcUrl,
    profile: hyperliquid.profile,
    ...observed(options, chain.rpcUrl),
    ...(explorerUrl !== undefined && { explorerUrl }),
  });
  const { weightPerMinute } = hyperliquid;
  const rpcs = rpcsFor(endpoint, weightPerMinute, options.answersClients === true);
  const solver = parseAddress(options.solver);
  if (solver === undefined) throw new RangeError(`chain ${chain.name}: solver address must be 20 bytes`);
  const network = exchange.isTestnet ? "Testnet" : "Mainnet";

  const readingOptions: ArrivalsReaderOptions = {
    rpc: rpcs.deposits,
    ...(weightPerMinute !== undefined && { maxTransactions: MAX_RATE_LIMITED_TRANSACTIONS }),
    depositories,
    judge: async (transaction: HyperliquidTransaction) => {
      const { action } = transaction;
      const tokenId = action?.type === "SendAsset" ? parseHyperliquidToken(action.token)?.tokenId : undefined;
      const token = tokenId === undefined ? undefined : await rpcs.tokens.token(tokenId);
      const decimalsOf = (id: Hex): number | undefined =>
        id === token?.tokenId ? token.decimals : undefined;
      const rules = { network, usdcTokenId: hyperliquid.usdcTokenId, decimalsOf, depositories };
      return depositIn(transaction, rules);
    },
    findPurpose: async ({ sender, nonce }, time) => {
      if (nonceMappings === undefined) return undefined;
      try {
        const purpose = purposeOf(await nonceMappings.of(attestation.name, sender, nonce), time);
        return purpose.kind === "for" ? purpose : undefined;
      } catch (error) {
        // Without the hub, funds are still detected; their purpose may be known from elsewhere, or later.
        options.onFault(error);
        return undefined;
      }
    },
    onStranded: ({ hash }, reason) =>
      options.onFault(new Error(`${chain.name}: ${hash} arrived, but oracles cannot attest it: ${reason}`)),
    onSkipped: (hash) =>
      options.onFault(
        new Error(`${chain.name}: ${hash} arrived, but the explorer never returned it correctly`),
      ),
    onCrowdedTimestamp: (depository, time) =>
      options.onFault(
        new Error(
          `${chain.name}: ${depository} has too many ledger entries at ${toIso(time)} (${time} ms) to list them all. ` +
            "Deposits at that time may be missing: report each one with POST /transactions/index",
        ),
      ),
  };
  const arrivalsReader = createArrivalsReader(readingOptions);
  const reportedNonces = new Set<bigint>();
  const reportedHashes = new Set<Hex>();
  const paymentOptions: HyperliquidPaymentsOptions = {
    rpc: rpcs.payments,
    solver,
    depositories,
    usdcTokenId: hyperliquid.usdcTokenId,
    exchange,
    now: () => options.now(),
    onUnclear: (hash, nonce) => {
      if (reportedHashes.has(hash)) return;
      reportedHashes.add(hash);
      options.onFault(
        new Error(
          `${chain.name}: the ledger entry ${hash} cannot be read and may be the solver's payment with nonce ${nonce}; the payment waits`,
        ),
      );
    },
    onIncompleteLedger: (nonce, crowdedTime) => {
      if (crowdedTime === undefined || reportedNonces.has(nonce)) return;
      reportedNonces.add(nonce);
      options.onFault(
        new Error(
          `${chain.name}: the solver's ledger cannot be read completely at ${toIso(crowdedTime)} (${crowdedTime} ms); ` +
            `the payment with nonce ${nonce} waits, because its outcome is unknown`,
        ),
      );
    },
  };
  const { prepareWith, ...payments } = createPayments(paymentOptions);
  const quotingPayments = createPayments({ ...paymentOptions, rpc: rpcs.onDemand });
  // In the API, transactions that clients report. In the worker, deposits that another endpoint shows.
  const reportedRpc = options.answersClients === true ? rpcs.onDemand : rpcs.deposits;
  const reportedReader = createArrivalsReader({ ...readingOptions, rpc: reportedRpc });
  const polledPayments = createPayments({ ...paymentOptions, rpc: rpcs.polling });
  const timers = new Set<NodeJS.Timeout>();

  const connection: NonEvmConnection = {
    vm: "hyperliquid-vm",
    solver,
    canReplace: false,
    // Canceled by another action with its nonce.
    canCancel: true,
    hasLateTransactionIds: true,
    // An account's first payment costs a dollar.
    costDependsOnRecipient: true,
    ...(weightPerMinute !== undefined && { isRateLimited: true }),
    ...payments,
    arrivals: arrivalsReader.arrivals,
    arrivalsOf: reportedReader.arrivalsOf,
    balances: polledPayments.balances,
    paymentCost: quotingPayments.paymentCost,
    refusalOf: quotingPayments.refusalOf,
    head: async () => ({ position: await rpcs.polling.clock(solver) }),
    onNews: (listener) => {
      const timer = setInterval(listener, POLL_INTERVAL_MS).unref();
      timers.add(timer);
      return () => {
        clearInterval(timer);
        timers.delete(timer);
      };
    },
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      await endpoint.close();
    },
  };
  return {
    ...connection,
    withKey: (privateKey) => {
      if (parseAddress(privateKeyToAddress(privateKey)) !== solver)
        throw new RangeError(`chain ${chain.name}: key does not match the solver address`);
      return {
        ...connection,
        prepare: prepareWith(privateKey),
        conflicts: (attempt, otherAttempt) => nonceOfSigned(attempt.raw) === nonceOfSigned(otherAttempt.raw),
        signNonceMapping: async ({ raw }, id) => {
          const nonce = nonceOfSigned(raw);
          const mapping = {
            walletChain: HYPERLIQUID_WALLET_CHAIN,
            wallet: solver,
            depositor: solver,
            id,
            nonce,
          };
          const { domain, types, primaryType, value } = nonceMappingTypedData({
            ...mapping,
            signatureChainId: 1,
          });
          const signature = await signTypedData({ privateKey, domain, types, primaryType, message: value });
          return { nonce, signature, signatureChainId: 1 };
        },
      };
    },
  };
}

function toIso(ms: bigint): string {
  return new Date(Number(ms)).toISOString();
}
