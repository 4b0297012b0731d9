import { createApiClient, startSystem, type System } from "@causeway/localnet";
import {
  depositoryVault,
  familyChains,
  familyWallets,
  type FamilyWallet,
  solanaTokensOf,
} from "@causeway/localnet/tour";
import { quoteAnswer, type QuoteAnswer, type WireChain } from "@causeway/wire";
import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, createWallet, type Wallet } from "./client.ts";
import { portBaseOf } from "./port-bases.ts";

// Apps take and pay fees on routes from and to non-EVM chains. Every unit that a user pays is accounted for:
// it reached the recipient or an app's balance, or stayed with the solver. Local prices are fixed.

const EVM = "local-a";
const PATIENCE_MS = 120_000;

let system: System;
let chains: readonly WireChain[];
let wallets: ReadonlyMap<string, FamilyWallet>;
let evmReads: Wallet;
let sponsor: { readonly key: string; readonly wallet: Address };

beforeAll(async () => {
  system = await startSystem({
    env: {},
    portBase: portBaseOf("non-evm-fees"),
    oracles: 0,
    durable: false,
    users: 1,
    families: true,
  });
  const { url } = system.endpoints.api;
  chains = await createApiClient(url).chains();
  const { families } = system;
  const [key] = system.endpoints.apiKeys;
  const [user] = system.users;
  if (families === undefined || key === undefined || user === undefined)
    throw new Error("the system has other families, an app that pays, and a user");
  wallets = await familyWallets(system, families);
  evmReads = createWallet(user.privateKey, await createClient(url).chains());
  sponsor = { key: key.key, wallet: key.fundingAddress };
  await until(
    async () => await balanceOf(sponsor.wallet),
    (amount) => amount > 0n,
  );
}, 240_000);
afterAll(async () => await system.stop());

interface Place {
  readonly chainId: number;
  readonly currency: string;
  readonly wallet: FamilyWallet;
}

function placeOf(name: string, symbol: string): Place {
  const chain = chains.find((one) => one.name === name);
  const wallet = wallets.get(name);
  const currency = chain && [chain.currency, ...chain.erc20Currencies].find((one) => one.symbol === symbol);
  if (chain === undefined || wallet === undefined || currency?.address === undefined)
    throw new Error(`GET /chains lists no ${symbol} on ${name}`);
  return { chainId: chain.id, currency: currency.address, wallet };
}

const evmUsdc = (): Place => placeOf(EVM, "USDC");
const solanaUsdc = (): Place => placeOf(familyChains.solana, "USDC");
const btc = (): Place => placeOf(familyChains.bitcoin, "BTC");

/** An app's balance in USDC, base units. */
async function balanceOf(app: Address): Promise<bigint> {
  const { code, body } = await createClient(system.endpoints.api.url).call<{ amount: string }>(
    `/app-fees/${app}/balances`,
  );
  expect(code).toBe(200);
  return BigInt(body.amount);
}

/** The USDC balance of one of our accounts on one of the two chains. */
async function holdingOf({ currency, wallet }: Place, account: string): Promise<bigint> {
  const [home] = system.chains;
  return wallet.chain === EVM
    ? await evmReads.balance(home?.id ?? 0, currency as Address, account as Address)
    : await solanaTokensOf(system.families?.urls.solana ?? "", account, currency);
}

async function until<T>(look: () => Promise<T>, isIt: (seen: T) => boolean): Promise<T> {
  for (const endMs = Date.now() + PATIENCE_MS; ;) {
    const seen = await look();
    if (isIt(seen)) return seen;
    if (Date.now() > endMs) throw new Error(`still ${String(seen)}`);
    await sleep(100);
  }
}

interface Ended {
  readonly quote: QuoteAnswer;
  readonly status: string;
  readonly app: Address;
  /** The amount that the user paid, and the amount received on the other chain. */
  readonly paid: bigint;
  readonly received: bigint;
}

/** Quotes, pays and follows to the end; the user's own account on the other chain receives. */
async function bridge(
  from: Place,
  to: Place,
  amount: bigint,
  {
    feeBps,
    ...options
  }: { readonly feeBps: number; readonly subsidizeFees?: true; readonly referrer?: string },
): Promise<Ended> {
  const { url } = system.endpoints.api;
  const app = privateKeyToAddress(generatePrivateKey());
  const [paidFrom, receivedFrom] = [
    await from.wallet.balanceOf(from.currency),
    await to.wallet.balanceOf(to.currency),
  ];
  const response = await fetch(`${url}/quote/v2`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": sponsor.key },
    body: JSON.stringify({
      user: from.wallet.address,
      recipient: to.wallet.address,
      originChainId: from.chainId,
      destinationChainId: to.chainId,
      originCurrency: from.currency,
      destinationCurrency: to.currency,
      amount: amount.toString(),
      tradeType: "EXACT_INPUT",
      appFees: [{ recipient: app, fee: String(feeBps) }],
      ...options,
    }),
  });
  const body: unknown = await response.json();
  expect([response.status, body]).toEqual([200, body]);
  const quote = quoteAnswer.parse(body);
  await from.wallet.carryOut(quote.steps);
  const { status } = await createApiClient(url).untilEnded(
    quote.requestId as Hex,
    AbortSignal.timeout(PATIENCE_MS),
  );
  return {
    quote,
    status,
    app,
    paid: paidFrom - (await from.wallet.balanceOf(from.currency)),
    received: (await to.wallet.balanceOf(to.currency)) - receivedFrom,
  };
}

/** The app's balance once the fill is final. */
const credited = async (app: Address): Promise<bigint> =>
  await until(
    async () => await balanceOf(app),
    (amount) => amount > 0n,
  );

test("an app earns its fee from an EVM chain to Solana, and the deposit is its fee, the service's and the output", async () => {
  const [from, to] = [evmUsdc(), solanaUsdc()];
  const solver = system.families?.solver.solana ?? "";
  const [home] = system.chains;
  const depository = home?.contracts.depository ?? "";
  const before = { solver: await holdingOf(to, solver), depository: await holdingOf(from, depository) };
  const { quote, status, app, paid, received } = await bridge(from, to, 400_000_000n, { feeBps: 100 });
  expect(status).toBe("success");
  const { relayer, app: fee, subsidized } = quote.fees;
  expect([paid, BigInt(fee.amount), subsidized.amount]).toEqual([400_000_000n, 4_000_000n, "0"]);
  expect(received).toBe(BigInt(quote.details.currencyOut.amount));
  expect(received + BigInt(fee.amount) + BigInt(relayer.amount)).toBe(paid);
  expect(await credited(app)).toBe(4_000_000n);
  expect(before.solver - (await holdingOf(to, solver))).toBe(received);
  expect((await holdingOf(from, depository)) - before.depository).toBe(paid);
});

test("a sponsor pays all fees from Solana to an EVM chain: the recipient gets the whole deposit", async () => {
  const [from, to] = [solanaUsdc(), evmUsdc()];
  const vault = await depositoryVault();
  const before = {
    sponsor: await balanceOf(sponsor.wallet),
    solver: await holdingOf(to, system.solver.address),
    vault: await holdingOf(from, vault),
  };
  const { quote, status, app, paid, received } = await bridge(from, to, 350_000_000n, {
    feeBps: 50,
    subsidizeFees: true,
  });
  expect(status).toBe("success");
  const { relayer, app: fee, subsidized } = quote.fees;
  expect([paid, received]).toEqual([350_000_000n, 350_000_000n]);
  expect(BigInt(subsidized.amount)).toBe(BigInt(relayer.amount) + BigInt(fee.amount));
  expect(await credited(app)).toBe(1_750_000n);
  expect(before.sponsor - (await balanceOf(sponsor.wallet))).toBe(BigInt(subsidized.amount));
  expect(before.solver - (await holdingOf(to, system.solver.address))).toBe(received);
  expect((await holdingOf(from, vault)) - before.vault).toBe(paid);
});

test("an app earns its fee in USDC from a deposit of bitcoin", async () => {
  const { quote, status, app, received } = await bridge(btc(), evmUsdc(), 200_000n, { feeBps: 75 });
  expect(status).toBe("success");
  expect(received).toBe(BigInt(quote.details.currencyOut.amount));
  expect(quote.fees.app.amount).toBe("1500");
  expect(await credited(app)).toBe(BigInt(quote.fees.app.amountUsd.replace(".", "")));
});

test("swaps on the EVM side of a route to and from Solana, and charges the app fee on the deposited amount", async () => {
  const [odd, usdc] = [placeOf(EVM, "ODD"), solanaUsdc()];
  const out = await bridge(odd, usdc, 10n ** 19n, { feeBps: 40 });
  expect([out.status, out.paid]).toEqual(["success", 10n ** 19n]);
  expect(out.received).toBe(BigInt(out.quote.details.currencyOut.amount));
  const deposit = out.quote.details.route.origin.outputCurrency;
  expect(deposit.currency.symbol).not.toBe("ODD");
  expect(BigInt(out.quote.fees.app.amount)).toBe((BigInt(deposit.amount) * 40n) / 10_000n);
  expect(await credited(out.app)).toBe(BigInt(out.quote.fees.app.amountUsd.replace(".", "")));

  const back = await bridge(usdc, odd, 10_000_000n, { feeBps: 40 });
  expect([back.status, back.paid]).toEqual(["success", 10_000_000n]);
  expect(back.received).toBe(BigInt(back.quote.details.currencyOut.amount));
  expect(await credited(back.app)).toBe(40_000n);
});

test("a refund returns the deposit, credits no app and charges no sponsor", async () => {
  const [from, to] = [evmUsdc(), solanaUsdc()];
  const before = await balanceOf(sponsor.wallet);
  const { quote, status, app, paid, received } = await bridge(from, to, 100_000_000n, {
    feeBps: 100,
    subsidizeFees: true,
    referrer: "debug-force-refund",
  });
  expect([status, received]).toEqual(["refund", 0n]);
  const { minimumAmount } = quote.details.refundCurrency;
  expect(100_000_000n - paid).toBeGreaterThanOrEqual(BigInt(minimumAmount));
  expect([await balanceOf(app), await balanceOf(sponsor.wallet)]).toEqual([0n, before]);
});
