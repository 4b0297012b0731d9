import { createApiClient } from "@causeway/localnet";
import { familyChains } from "@causeway/localnet/tour";
import { quoteAnswer, type QuoteAnswer, type StatusAnswer } from "@causeway/wire";
import { encodeFunctionData, erc20Abi, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import type { FeatureName } from "../support/route-features.ts";
import { contractOf } from "../support/smart-accounts.ts";
import type { FamilyPlace } from "./family-places.ts";
import { payerFor, type Payer } from "./feature-payer.ts";
import { kindOf } from "./feature-rows.ts";
import {
  callApi,
  currencyAt,
  evmChain,
  evmClient,
  evmTokens,
  tokensFrom,
  untilSeen,
  type FeatureWorld,
  type TokenMovement,
} from "./feature-world.ts";

/**
 * A request that uses features of its route. Its recipient and the app that charges fees are new accounts.
 */
export interface FeatureRequest {
  readonly from: FamilyPlace;
  readonly to: FamilyPlace;
  /** One trade type, and features that can be combined with it and with each other. */
  readonly features: readonly FeatureName[];
  /** The index of the user whose wallet pays. A user has one request at a time on each chain. */
  readonly user: number;
  readonly dollars: number;
  /** Whether the deposit is refunded instead of filled. */
  readonly isRefunded?: boolean;
}

/** The outcome of a request according to the chains. */
export interface FeatureOutcome {
  readonly request: FeatureRequest;
  readonly quote: QuoteAnswer;
  readonly status: StatusAnswer["status"];
  /** The wallet of the app that charges fees. */
  readonly app: Address;
  /** What the payer spent, excluding network fees. */
  readonly paid: bigint;
  /** What was refunded to the payer. */
  readonly refunded: bigint;
  readonly received: bigint;
  /** Native tokens for gas that the recipient received, in wei. */
  readonly topup: bigint;
  readonly deposited: readonly TokenMovement[];
  /** The tokens that the solver spent. */
  readonly spent: readonly TokenMovement[];
  /**
   * Block numbers of an EVM destination with a fixed rate: the newest block before the quote, and the block
   * of the fill. Absent for all other requests.
   */
  readonly fillBlocks?: { readonly quoted: bigint; readonly filled: bigint };
  readonly tookMs: number;
}

const END_WITHIN_MS = 180_000;
export const TOPUP_DOLLARS = 3;
/** A token that one shallow pool trades and that the solver does not hold. */
const POOL_TOKEN = { symbol: "ODD", perDollar: 10n ** 18n / 4n } as const;
export const APP_FEE_BPS = 40;

/** @throws Error if a call is refused or the request does not end in time */
export async function runFeatureRequest(
  world: FeatureWorld,
  request: FeatureRequest,
): Promise<FeatureOutcome> {
  const { from, to, features, user, dollars } = request;
  const has = (feature: FeatureName): boolean => features.includes(feature);
  const input = currencyFor(world, from, has("swapBefore"));
  const output = currencyFor(world, to, has("swapAfter"));
  const amount = BigInt(dollars) * input.perDollar;
  const payment = { chain: from.chain, currency: input.currency, amount, user };
  const payer = await payerFor(world, payment, features);
  const [recipient, app, callee] = [await to.newRecipient(), newAccount(), newAccount()];
  const startedAtMs = performance.now();
  const parties = { user: payer.address, recipient, app, callee };
  const isGasPriced = has("fixedRate") && request.isRefunded !== true && kindOf(to.chain) === "evm";
  const quoted = isGasPriced ? await evmClient(world, to.chain).getBlockNumber() : undefined;
  const quote = quoteAnswer.parse(
    await callApi(world, "/quote/v2", quoteBodyOf(request, parties, input, output)),
  );
  if (has("fastFill")) await callApi(world, "/fast-fill", { requestId: quote.requestId });
  const before = await payer.balance();
  await payer.pay(quote);
  const end = await createApiClient(world.system.endpoints.api.url).waitUntilEnded(
    quote.requestId as Hex,
    AbortSignal.timeout(END_WITHIN_MS),
  );
  const tookMs = performance.now() - startedAtMs;
  const { paid, refunded } = await paymentOf(request, quote, payer, before);
  const accounts = [recipient, ...(has("calls") ? [callee] : [])];
  // Some nodes report a payment slightly later than the service does.
  const received = await untilSeen(
    async () => await receivedBy(world, to, output, accounts),
    (amount) => amount > 0n || end.status !== "success",
  );
  return {
    request,
    quote,
    status: end.status,
    app,
    paid,
    refunded,
    received,
    topup: has("gasTopup")
      ? await evmClient(world, to.chain).getBalance({ address: recipient as Address })
      : 0n,
    deposited: has("swapBefore")
      ? await swappedDeposit(world, from.chain, end.inTxHashes)
      : [{ chain: from.chain, currency: from.currency, amount: paid }],
    spent: await spentBy(world, request, end, { received, refunded }),
    ...(quoted !== undefined && {
      fillBlocks: { quoted, filled: await lastBlockOf(world, to.chain, end.txHashes) },
    }),
    tookMs,
  };
}

interface Parties {
  readonly user: string;
  readonly recipient: string;
  /** The app that charges fees. */
  readonly app: Address;
  /** An account that receives a quarter of the output through a call. */
  readonly callee: Address;
}

/** The body of the quote call, with all of the request's features. */
function quoteBodyOf(
  { from, to, features, dollars, isRefunded = false }: FeatureRequest,
  { user, recipient, app, callee }: Parties,
  input: PricedCurrency,
  output: PricedCurrency,
): object {
  const has = (...any: readonly FeatureName[]): boolean => any.some((feature) => features.includes(feature));
  const amount = has("exactInput")
    ? BigInt(dollars) * input.perDollar
    : (BigInt(dollars) * output.perDollar * 9n) / 10n;
  // A payment to an address does not reveal where to send a refund. Open addresses on EVM chains do not need
  // a refund address.
  const needsRefundTo = has("strictAddress") || (has("openAddress") && kindOf(from.chain) !== "evm");
  return {
    user,
    recipient,
    originChainId: from.chainId,
    destinationChainId: to.chainId,
    originCurrency: input.currency,
    destinationCurrency: output.currency,
    amount: String(amount),
    tradeType: has("exactOutput")
      ? "EXACT_OUTPUT"
      : has("expectedOutput")
        ? "EXPECTED_OUTPUT"
        : "EXACT_INPUT",
    ...(from.chain === familyChains.hyperliquid && { protocolVersion: "v2" }),
    ...(isRefunded && { referrer: "debug-force-refund" }),
    ...(has("appFees") && { appFees: [{ recipient: app, fee: String(APP_FEE_BPS) }] }),
    ...(has("subsidizeFees", "fixedRate") && { subsidizeFees: true }),
    ...(has("fixedRate") && { fixedRate: "1:1" }),
    // Most of the cost of a token payment on Solana is rent, which a fixed rate includes.
    ...(has("fixedRate") && to.chain === familyChains.solana && { sponsoredFeeComponents: ["rent"] }),
    ...(has("openAddress", "strictAddress") && { useDepositAddress: true }),
    ...(has("strictAddress") && { strict: true }),
    ...(needsRefundTo && { refundTo: user }),
    ...(has("permit") && { usePermit: true }),
    ...(has("originGas") && { originGasOverhead: "80000" }),
    ...(has("calls") && {
      txs: [transferCall(output.currency, callee, (BigInt(dollars) * output.perDollar) / 4n)],
    }),
    ...(has("gasTopup") && { topupGas: true, topupGasAmount: String(TOPUP_DOLLARS * 1_000_000) }),
  };
}

const newAccount = (): Address => privateKeyToAddress(generatePrivateKey());

const transferCall = (token: string, to: Address, amount: bigint) => ({
  to: token,
  value: "0",
  data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] }),
});

interface PricedCurrency {
  readonly currency: string;
  readonly perDollar: bigint;
}

function currencyFor(
  world: FeatureWorld,
  { chain, currency, perDollar }: FamilyPlace,
  isSwapped: boolean,
): PricedCurrency {
  return isSwapped
    ? { currency: currencyAt(world, chain, POOL_TOKEN.symbol), perDollar: POOL_TOKEN.perDollar }
    : { currency, perDollar };
}

/** What the payer spent and what was refunded, after the request ended. */
async function paymentOf(
  { from, isRefunded = false }: FeatureRequest,
  { fees, details }: QuoteAnswer,
  payer: Payer,
  before: bigint,
): Promise<{ readonly paid: bigint; readonly refunded: bigint }> {
  // On Bitcoin the payer also pays the transaction's fee.
  const networkFee = from.chain === familyChains.bitcoin ? BigInt(fees.gas.amount) : 0n;
  const quoted = BigInt(details.currencyIn.amount);
  const after = await untilSeen(
    async () => await payer.balance(),
    (balance) => (isRefunded ? balance > before - quoted - networkFee : balance < before),
  );
  const lost = before - after - networkFee;
  return isRefunded ? { paid: quoted, refunded: quoted - lost } : { paid: lost, refunded: 0n };
}

async function receivedBy(
  world: FeatureWorld,
  to: FamilyPlace,
  { currency }: PricedCurrency,
  accounts: readonly string[],
): Promise<bigint> {
  const amounts = await Promise.all(
    accounts.map(async (account) =>
      currency === to.currency
        ? await to.balanceOf(account)
        : await evmTokens(world, to.chain, currency, account),
    ),
  );
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

/** The amount that a swap before the deposit delivered to the depository. */
async function swappedDeposit(
  world: FeatureWorld,
  chain: string,
  hashes: readonly string[],
): Promise<readonly TokenMovement[]> {
  const moved = await tokensFrom(world, chain, hashes, contractOf(evmChain(world, chain), "depository"));
  return moved.map((movement) => ({ ...movement, amount: -movement.amount }));
}

async function lastBlockOf(world: FeatureWorld, chain: string, hashes: readonly string[]): Promise<bigint> {
  const receipts = await Promise.all(
    hashes.map(async (hash) => await evmClient(world, chain).getTransactionReceipt({ hash: hash as Hex })),
  );
  return receipts.reduce((last, { blockNumber }) => (blockNumber > last ? blockNumber : last), 0n);
}

/** What the solver spent. On EVM chains it is read from the transactions of the fill or refund. */
async function spentBy(
  world: FeatureWorld,
  { from, to, isRefunded = false }: FeatureRequest,
  { txHashes, refundTxHashes }: StatusAnswer,
  amounts: { readonly received: bigint; readonly refunded: bigint },
): Promise<readonly TokenMovement[]> {
  const [place, hashes] = isRefunded ? [from, refundTxHashes] : [to, txHashes];
  if (kindOf(place.chain) === "evm")
    return await tokensFrom(world, place.chain, hashes, world.system.solver.address);
  const amount = isRefunded ? amounts.refunded : amounts.received;
  return [{ chain: place.chain, currency: place.currency, amount }];
}
