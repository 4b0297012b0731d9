import type { QuoteAnswer } from "@causeway/wire";
import {
  createWalletClient,
  erc20Abi,
  http,
  parseUnits,
  type Address,
  type Hex,
  type TypedDataDefinition,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { FeatureName } from "../support/route-features.ts";
import { smartEoa } from "../support/smart-accounts.ts";
import { kindOf } from "./feature-rows.ts";
import { callApi, evmChain, evmReads, evmTokens, type FeatureWorld } from "./feature-world.ts";

/** Who pays for a request, and how. */
export interface Payer {
  readonly address: string;
  /** Base units of the paid currency. */
  balance(): Promise<bigint>;
  pay(quote: QuoteAnswer): Promise<void>;
}

interface Payment {
  readonly chain: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly user: number;
}

/**
 * A user's wallet. For a deposit by signature, by the service or at an address, a new account that has only
 * what it pays.
 */
export async function payerFor(
  world: FeatureWorld,
  payment: Payment,
  features: readonly FeatureName[],
): Promise<Payer> {
  if (features.includes("permit")) return await bySignature(world, payment);
  if (features.includes("originGas")) return await byTheService(world, payment);
  const isToAddress = features.includes("openAddress") || features.includes("strictAddress");
  if (isToAddress && kindOf(payment.chain) === "evm") return await toAnAddress(world, payment);
  const wallet = world.wallets[payment.user]?.get(payment.chain);
  if (wallet === undefined) throw new Error(`user ${payment.user} has no wallet on ${payment.chain}`);
  return {
    address: wallet.address,
    balance: async () => await wallet.balanceOf(payment.currency),
    pay: async ({ steps }) => void (await wallet.execute(steps)),
  };
}

async function bySignature(world: FeatureWorld, payment: Payment): Promise<Payer> {
  const account = privateKeyToAccount(generatePrivateKey());
  return {
    ...(await newAccount(world, payment, account.address)),
    pay: async ({ steps }) => {
      const [data] = steps.flatMap(({ items }) => items.map((item) => item.data)) as unknown as {
        readonly sign: Pick<TypedDataDefinition, "domain" | "types" | "primaryType"> & { value: object };
        readonly post: { readonly endpoint: string; readonly body: object };
      }[];
      if (data === undefined) throw new Error("the quote asks for no signature");
      const { domain, types, primaryType, value: message } = data.sign;
      const signature = await account.signTypedData({
        domain,
        types,
        primaryType,
        message,
      } as TypedDataDefinition);
      await callApi(world, `${data.post.endpoint}?signature=${signature}`, data.post.body);
    },
  };
}

async function byTheService(world: FeatureWorld, payment: Payment): Promise<Payer> {
  const chain = evmChain(world, payment.chain);
  const account = smartEoa(chain, privateKeyToAccount(generatePrivateKey()));
  return {
    ...(await newAccount(world, payment, account.address)),
    pay: async ({ steps, requestId }) => {
      const calls = steps
        .flatMap(({ items }) => items as unknown as { data: { to: Address; value: string; data: Hex } }[])
        .map(({ data }) => ({ to: data.to, value: BigInt(data.value), data: data.data }));
      await callApi(world, "/execute", {
        executionKind: "rawCalls",
        data: await account.sign(calls),
        executionOptions: { referrer: "", subsidizeFees: false },
        requestId,
      });
    },
  };
}

/** From any wallet, as the step of the quote names only the address. */
async function toAnAddress(world: FeatureWorld, payment: Payment): Promise<Payer> {
  const { chain, currency, amount } = payment;
  const account = privateKeyToAccount(generatePrivateKey());
  const wallet = createWalletClient({ account, transport: http(evmChain(world, chain).rpcUrl) });
  return {
    ...(await newAccount(world, payment, account.address, parseUnits("1", 18))),
    pay: async ({ steps }) => {
      const hash = await wallet.writeContract({
        address: currency as Address,
        abi: erc20Abi,
        functionName: "transfer",
        args: [steps[0]?.depositAddress as Address, amount],
        // A higher tip would raise what the service expects gas to cost.
        maxPriorityFeePerGas: 10_000_000n,
        chain: null,
      });
      const { status } = await evmReads(world, chain).waitForTransactionReceipt({
        hash,
        pollingInterval: 50,
      });
      if (status !== "success") throw new Error(`the payment ${hash} reverted`);
    },
  };
}

async function newAccount(
  world: FeatureWorld,
  { chain, currency, amount }: Payment,
  address: Address,
  nativeWei?: bigint,
): Promise<Omit<Payer, "pay">> {
  const tokens = [{ token: currency as Address, amount }];
  await world.fund(chain, { address, tokens, ...(nativeWei !== undefined && { nativeWei }) });
  return { address, balance: async () => await evmTokens(world, chain, currency, address) };
}
