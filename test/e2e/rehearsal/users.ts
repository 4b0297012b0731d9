import { expect } from "vitest";
import { zeroAddress, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { createClient, createWallet, type Quote, type Status, type Wallet } from "../client.ts";
import type { Network } from "./network.ts";

/** A bridge of a user from Ethereum to Base. */
export interface Bridge {
  readonly user: number;
  readonly quote: Quote;
  readonly recipient: Address;
}

/** What a user asks to bridge. */
export interface BridgeOptions {
  readonly user: number;
  /** Base units of USDC, or of ETH if `isNative`. */
  readonly amount: bigint;
  readonly isNative?: boolean;
  /** The lifetime of the request in seconds: a deposit that is not filled by then is refunded. */
  readonly ttl?: number;
}

/** A request as integrators see it in request lists. */
interface PastRequest {
  readonly protocol: {
    readonly solver: { readonly address: Address };
    readonly settlement?: { readonly state: string };
  };
}

/** Users of an integrator, each with a wallet. */
export type Users = Awaited<ReturnType<typeof createUsers>>;

export async function createUsers(
  { ethereum, base, usdc }: Pick<Network, "ethereum" | "base" | "usdc">,
  {
    url,
    apiKey,
    userKeys,
  }: { readonly url: string; readonly apiKey: string; readonly userKeys: readonly Hex[] },
) {
  const api = createClient(url, { "x-api-key": apiKey });
  // Wallets use their own nodes.
  const nodes = new Map([ethereum, base].map((node) => [node.chainId, node.url]));
  const chains = (await api.chains()).map((chain) => ({ ...chain, httpRpcUrl: nodes.get(chain.id) ?? "" }));
  const wallets = userKeys.map((key) => createWallet(key, chains, 250));
  const walletOf = (user: number): Wallet => {
    const wallet = wallets[user];
    if (wallet === undefined) throw new Error(`no user ${user}`);
    return wallet;
  };

  const bodyOf = ({ user, amount, isNative, ttl }: BridgeOptions, recipient: Address): object => ({
    user: walletOf(user).address,
    recipient,
    originChainId: ethereum.chainId,
    destinationChainId: base.chainId,
    originCurrency: isNative === true ? zeroAddress : usdc,
    destinationCurrency: isNative === true ? zeroAddress : usdc,
    amount: amount.toString(),
    tradeType: "EXACT_INPUT",
    ...(ttl !== undefined && { ttl }),
  });
  const status = async ({ quote }: Bridge): Promise<Status> => await api.status(quote.requestId);
  /** Polls until the request has a status. The API may be restarting. */
  const expectStatus = async (bridge: Bridge, expected: object): Promise<void> => {
    const currentStatus = async () => await status(bridge).catch(() => undefined);
    await expect.poll(currentStatus, { timeout: 60_000, interval: 300 }).toMatchObject(expected);
  };
  const pastRequest = async ({ quote: { requestId } }: Bridge): Promise<PastRequest> => {
    const path = `/requests/v3?id=${requestId}`;
    const { body } = await api.call<{ readonly requests: readonly [PastRequest] }>(path);
    return body.requests[0];
  };
  return {
    async quote(options: BridgeOptions): Promise<Bridge> {
      const recipient = privateKeyToAddress(generatePrivateKey());
      return { user: options.user, recipient, quote: await api.quote(bodyOf(options, recipient)) };
    },
    /** Requests a quote that may be refused. Returns the body of the answer. */
    tryQuote: async (options: BridgeOptions) =>
      (await api.call("/quote/v2", bodyOf(options, walletOf(0).address))).body,
    deposit: async ({ user, quote }: Bridge) => await walletOf(user).execute(quote),
    expectStatus,
    /** Waits for the fill. The recipient, who had no funds, must have exactly the quoted output. */
    async expectPaid(bridge: Bridge): Promise<void> {
      await expectStatus(bridge, { status: "success" });
      const { amount, currency } = bridge.quote.details.currencyOut;
      const received = await walletOf(0).balance(base.chainId, currency.address, bridge.recipient);
      expect(received).toBe(BigInt(amount));
    },
    async expectSettled(bridge: Bridge): Promise<void> {
      const state = async () => (await pastRequest(bridge)).protocol.settlement?.state;
      await expect.poll(state, { timeout: 60_000, interval: 500 }).toBe("settled");
    },
    /** The solver that the bridge's order names, in lowercase. */
    solverOf: async (bridge: Bridge) => (await pastRequest(bridge)).protocol.solver.address.toLowerCase(),
    /** The account that made the fill, in lowercase. */
    async payerOf(bridge: Bridge): Promise<string> {
      const [fill = "0x"] = (await status(bridge)).txHashes;
      return (await walletOf(0).transaction(base.chainId, fill)).from.toLowerCase();
    },
    /** The USDC balance of a user on Ethereum. */
    usdcOf: async (user: number): Promise<bigint> =>
      await walletOf(user).balance(ethereum.chainId, usdc, walletOf(user).address),
  };
}
