import {
  buildHyperliquidDepositSteps,
  hyperliquidPlaceOf,
  hyperliquidSigningProfiles,
  formatAmount,
  ServiceError,
  type Currency,
  type Hex,
  type NonEvmChain,
  type RequestTerms,
} from "@causeway/domain";
import { formatAddress } from "@causeway/families";
import { SwapRefused, type UserDepositStep } from "@causeway/chains";
import type { AuthorizeStep, NonEvmStep } from "@causeway/wire";
import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import { balanceUnavailable, depositsNotEnabled } from "../../http/refusals.ts";
import type { StepsFacts, UserSteps } from "./side.ts";
import { swapDescription, proposeSwap, swapRefusal } from "./swap-before-deposit.ts";

/** The steps of a withdrawal from Hyperliquid. */
export async function withdrawalFrom(
  origin: ConnectedNonEvmChain,
  { originCurrency, terms }: StepsFacts,
): Promise<UserSteps> {
  const steps = withdrawalSteps(origin.chain, originCurrency, terms, await tokenOf(origin, terms));
  return { steps, gas: 0n, balance: await balanceOf(origin, terms) };
}

/** The step of a deposit on a non-EVM chain; swaps first if the route does. */
export async function paymentFrom(
  origin: ConnectedNonEvmChain,
  { originCurrency, publicKey, route, terms }: StepsFacts,
): Promise<UserSteps> {
  const { chain, users } = origin;
  const {
    user,
    orderId,
    origin: { currency, amount },
  } = terms;
  const originSwap = route.trade.origin;
  const [balance, userDeposit] = await Promise.all([
    balanceOf(origin, terms),
    withNodeErrors(chain, async () => {
      const swap = originSwap && (await proposeSwap(chain, originCurrency, user, originSwap));
      const to = terms.depositAddress?.address;
      return await users?.deposit?.({ user, currency, amount, orderId, publicKey, to, swap });
    }),
  ]);
  if (userDeposit === undefined) throw depositsNotEnabled(chain);
  const description = originSwap && swapDescription(chain, originCurrency, route.deposited, originSwap);
  const step = depositStep(chain, originCurrency, terms, userDeposit.data);
  return {
    steps: [description === undefined ? step : { ...step, description }],
    gas: userDeposit.fee,
    balance,
  };
}

/** The user's balance of the currency that they pay with. */
async function balanceOf(
  { chain, users }: ConnectedNonEvmChain,
  { user, input, origin }: RequestTerms,
): Promise<bigint> {
  const { currency } = input ?? origin;
  return await withNodeErrors(chain, async () => (await users?.balance(user, currency)) ?? 0n);
}

async function withNodeErrors<T>(
  chain: Pick<NonEvmChain, "displayName">,
  query: () => Promise<T>,
): Promise<T> {
  try {
    return await query();
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    if (cause instanceof SwapRefused) throw swapRefusal(chain, cause);
    throw balanceUnavailable(chain, cause);
  }
}

function depositStep(
  chain: NonEvmChain,
  currency: Currency,
  { requestId, depositAddress, origin: { amount } }: RequestTerms,
  data: UserDepositStep["data"],
): NonEvmStep {
  const formatted = `${formatAmount(amount, currency.decimals)} ${currency.symbol}`;
  const address = depositAddress && formatAddress(chain, depositAddress.address);
  return {
    id: "deposit",
    kind: "transaction",
    ...commonFields(requestId),
    // A payment from any wallet or exchange.
    ...(address !== undefined && { depositAddress: address, action: "Send funds to the deposit address" }),
    description:
      address === undefined
        ? `Deposit ${formatted} to start the request`
        : `Send ${formatted} to ${address} to start the request`,
    items: [{ status: "incomplete", data, check: checkOf(requestId) }],
  };
}

/** Hyperliquid's name and id of the currency. */
async function tokenOf(
  { chain, users }: ConnectedNonEvmChain,
  { origin: { currency } }: RequestTerms,
): Promise<{ readonly name: string; readonly tokenId: Hex }> {
  const token = await withNodeErrors(chain, async () => await users?.token?.(currency));
  if (token !== undefined) return token;
  throw new ServiceError(
    "UNSUPPORTED_CURRENCY",
    `originCurrency is not listed on ${chain.displayName} at the moment`,
    {
      field: "originCurrency",
    },
  );
}

/** Chain id of the signature's domain. Affects only the signature, so any chain of the wallet will do. */
const DEFAULT_SIGNATURE_CHAIN = 1;

/**
 * The two steps of a Hyperliquid withdrawal, with one nonce: the nonce mapping and the transfer. The mapping
 * has no check: a client would wait for the fill there and never make the deposit.
 */
function withdrawalSteps(
  chain: NonEvmChain,
  currency: Currency,
  { requestId, orderId, user, walletNonce, origin: { amount } }: RequestTerms,
  token: { readonly name: string; readonly tokenId: Hex },
): [AuthorizeStep, NonEvmStep] {
  const place = hyperliquidPlaceOf(currency.address);
  const { exchange } = chain;
  if (place === undefined || exchange === undefined || walletNonce === undefined)
    throw new ServiceError(
      "UNSUPPORTED_CURRENCY",
      `Currency ${currency.symbol} is not supported on ${chain.displayName}`,
      { field: "originCurrency" },
    );
  const { authorize, deposit } = buildHyperliquidDepositSteps(
    hyperliquidSigningProfiles[exchange.profile],
    chain.id,
    {
      wallet: user,
      depositor: user,
      orderId,
      depository: chain.depository,
      network: exchange.isTestnet ? "Testnet" : "Mainnet",
      signatureChainId: DEFAULT_SIGNATURE_CHAIN,
      from: place,
      to: place,
      token,
      amount,
      decimals: currency.decimals,
      nonce: walletNonce,
    },
  );
  return [
    {
      id: "authorize",
      kind: "signature",
      requestId,
      depositAddress: "",
      action: "Sign in your wallet",
      description: "Sign the authorization that links the withdrawal to this request",
      items: [
        {
          status: "incomplete",
          data: {
            sign: authorize.sign,
            post: { endpoint: "/authorize", method: "POST", body: authorize.post },
          },
        },
      ],
    },
    {
      id: "deposit",
      kind: "transaction",
      ...commonFields(requestId),
      description: `Withdraw ${formatAmount(amount, currency.decimals)} ${currency.symbol} from ${chain.displayName} to start the request`,
      items: [
        {
          status: "incomplete",
          data: {
            action: { type: deposit.action.type, parameters: { ...deposit.action.parameters } },
            nonce: deposit.nonce,
            eip712Types: deposit.eip712Types,
            eip712PrimaryType: deposit.eip712PrimaryType,
          },
          check: checkOf(requestId),
        },
      ],
    },
  ];
}

function commonFields(requestId: string): { requestId: string; depositAddress: string; action: string } {
  return { requestId, depositAddress: "", action: "Confirm transaction in your wallet" };
}

function checkOf(requestId: string): { endpoint: string; method: "GET" } {
  return { endpoint: `/intents/status/v3?requestId=${requestId}`, method: "GET" };
}
