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
import { callApi, evmChain, evmClient, evmTokens, type FeatureWorld } from "./feature-world.ts";

/** The account that pays for a request, and how it pays. */
export interface Payer {
  readonly address: string;
  /** The payer's balance in base units of the paid currency. */
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
 * The payer of a request: the user's wallet; or, if the deposit is signed, sent by the service or paid to a
 * deposit address, a new account that holds only the payment.
 */
export async function payerFor(
  world: FeatureWorld,
  payment: Payment,
  features: readonly FeatureName[],
): Promise<Payer> {
  if (features.includes("permit")) return await signingPayer(world, payment);
  if (features.includes("originGas")) return await executionPayer(world, payment);
  const isAddressPayment = features.includes("openAddress") || features.includes("strictAddress");
  if (isAddressPayment && kindOf(payment.chain) === "evm") return await addressPayer(world, payment);
  const wallet = world.wallets[payment.user]?.get(payment.chain);
  if (wallet === undefined) throw new Error(`user ${payment.user} has no wallet on ${payment.chain}`);
  return {
    address: wallet.address,
    balance: async () => await wallet.balanceOf(payment.currency),
    pay: async ({ steps }) => void (await wallet.execute(steps)),
  };
}

async function signingPayer(world: FeatureWorld, payment: Payment): Promise<Payer> {
  const account = privateKeyToAccount(generatePrivateKey());
  return {
    ...(await newAccount(world, payment, account.address)),
    pay: async ({ steps }) => {
      const [data] = steps.flatMap(({ items }) => items.map((item) => item.data)) as unknown as {
        readonly sign: Pick<TypedDataDefinition, "domain" | "types" | "primaryType"> & { value: object };
        readonly post: { readonly endpoint: string; readonly body: object };
      }[];
      if (data === undefined) throw new Error("the quote has no item to sign");
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

async function executionPayer(world: FeatureWorld, payment: Payment): Promise<Payer> {
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

/** A payer for a deposit address. Any wallet may pay, because the quote's step names only the address. */
async function addressPayer(world: FeatureWorld, payment: Payment): Promise<Payer> {
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
        // A higher tip would raise the service's estimate of the gas cost.
        maxPriorityFeePerGas: 10_000_000n,
        chain: null,
      });
      const { status } = await evmClient(world, chain).waitForTransactionReceipt({
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
