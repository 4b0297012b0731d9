import { setTimeout as sleep } from "node:timers/promises";
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  erc20Abi,
  http,
  nonceManager,
  zeroAddress,
  type Address,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";

// A client as an integrator would write it. It uses only openapi/api.json and viem, and imports nothing from
// this repository.

export interface Currency {
  readonly address: Address;
  readonly symbol: string;
  readonly decimals: number;
}

export interface Chain {
  readonly id: number;
  readonly name: string;
  readonly httpRpcUrl: string;
  readonly currency: Currency;
  readonly erc20Currencies: readonly Currency[];
}

export interface Quote {
  readonly requestId: Hex;
  readonly steps: readonly {
    readonly id: string;
    readonly requestId: Hex;
    readonly items: readonly {
      readonly status: string;
      readonly check?: { readonly endpoint: string; readonly method: string };
      readonly data: {
        readonly from: Address;
        readonly to: Address;
        readonly data: Hex;
        readonly value: string;
        readonly chainId: number;
        readonly gas?: string;
        readonly maxFeePerGas: string;
        readonly maxPriorityFeePerGas: string;
      };
    }[];
  }[];
  readonly details: {
    readonly operation: "send" | "swap" | "wrap" | "unwrap" | "bridge";
    readonly sender: Address;
    readonly recipient: Address;
    readonly currencyIn: QuotedAmount;
    readonly currencyOut: QuotedAmount;
    readonly route: {
      readonly origin: { readonly inputCurrency: QuotedAmount; readonly outputCurrency: QuotedAmount };
      readonly destination: { readonly inputCurrency: QuotedAmount; readonly outputCurrency: QuotedAmount };
    };
  };
}

export interface QuotedAmount {
  readonly currency: { readonly chainId: number; readonly address: Address };
  readonly amount: string;
  readonly minimumAmount: string;
}

export interface Status {
  readonly requestId: Hex;
  readonly status: "waiting" | "depositing" | "pending" | "submitted" | "success" | "failure" | "refund";
  readonly inTxHashes: readonly Hex[];
  readonly txHashes: readonly Hex[];
  readonly refundTxHashes: readonly Hex[];
  readonly failReason: string;
  readonly fundsAt: string;
  readonly nextAction: string;
  readonly final: boolean;
  readonly pollAfterMs: number;
}

export interface Answer<T> {
  readonly code: number;
  readonly body: T;
}

export type Client = ReturnType<typeof createClient>;

/** @param headers sent with every call, such as `x-api-key` */
export function createClient(url: string, headers: Readonly<Record<string, string>> = {}) {
  const call = async <T>(path: string, body?: object): Promise<Answer<T>> => {
    const response = await fetch(`${url}${path}`, {
      ...(body === undefined
        ? { headers }
        : {
            method: "POST",
            headers: { ...headers, "content-type": "application/json" },
            body: JSON.stringify(body),
          }),
      signal: AbortSignal.timeout(10_000),
    });
    return { code: response.status, body: (await response.json()) as T };
  };
  const ok = async <T>(path: string, body?: object): Promise<T> => {
    const answer = await call<T>(path, body);
    if (answer.code !== 200) throw new Error(`${path}: ${answer.code} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const status = async (requestId: Hex): Promise<Status> =>
    await ok<Status>(`/intents/status/v3?requestId=${requestId}`);
  return {
    call,
    status,
    chains: async () => (await ok<{ chains: readonly Chain[] }>("/chains")).chains,
    quote: async (body: object) => await ok<Quote>("/quote/v2", body),
    single: async (report: { requestId: Hex; chainId: number; tx: object }) =>
      await ok<{ message: string }>("/transactions/single", {
        ...report,
        tx: JSON.stringify(report.tx),
        chainId: String(report.chainId),
      }),
    index: async (report: { chainId: number; txHash: Hex }) =>
      await ok<{ message: string }>("/transactions/index", { ...report, chainId: String(report.chainId) }),
    /** Polls until the final status. Returns every distinct status in order. */
    follow: async (requestId: Hex, withinMs = 30_000, pollEveryMs = 25): Promise<readonly Status[]> => {
      const seen: Status[] = [];
      for (const endMs = Date.now() + withinMs; Date.now() < endMs;) {
        const now = await status(requestId).catch((error: unknown) => {
          // The service may be briefly unreachable.
          if (error instanceof TypeError) return undefined;
          throw error;
        });
        if (now && now.status !== seen.at(-1)?.status) seen.push(now);
        if (now && ["success", "failure", "refund"].includes(now.status)) return seen;
        await sleep(pollEveryMs);
      }
      throw new Error(`no final status within ${withinMs} ms; last: ${JSON.stringify(seen.at(-1))}`);
    },
  };
}

export type Wallet = ReturnType<typeof createWallet>;

/** A user's wallet on the chains that the API lists. It polls for receipts every `pollingMs`. */
export function createWallet(privateKey: Hex, chains: readonly Chain[], pollingMs = 50) {
  const account = privateKeyToAccount(privateKey, { nonceManager });
  const on = (chainId: number) => {
    const listedChain = chains.find(({ id }) => id === chainId);
    if (listedChain === undefined) throw new Error(`no chain ${chainId}`);
    const transport = http(listedChain.httpRpcUrl);
    const chain = defineChain({
      id: chainId,
      name: listedChain.name,
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [listedChain.httpRpcUrl] } },
    });
    return {
      reads: createPublicClient({ chain, transport, pollingInterval: pollingMs }),
      writes: createWalletClient({ account, chain, transport }),
    };
  };
  return {
    address: account.address,
    balance: async (chainId: number, currency: Address, holder: Address): Promise<bigint> =>
      currency === zeroAddress
        ? await on(chainId).reads.getBalance({ address: holder })
        : await on(chainId).reads.readContract({
            address: currency,
            abi: erc20Abi,
            functionName: "balanceOf",
            args: [holder],
          }),
    /**
     * Sends the steps in order, each after the previous one is mined.
     * @returns the last transaction's hash and block, and the gas paid for all
     */
    execute: async ({ steps }: Quote): Promise<{ hash: Hex; gasWei: bigint; block: bigint }> => {
      let [hash, gasWei, block]: [Hex, bigint, bigint] = ["0x", 0n, 0n];
      for (const { data } of steps.flatMap((step) => step.items)) {
        const { reads, writes } = on(data.chainId);
        const call = { to: data.to, data: data.data, value: BigInt(data.value) };
        // Adds a margin, as wallets do: earlier transactions in the block may raise the gas that is needed.
        const estimated = async (): Promise<bigint> =>
          ((await reads.estimateGas({ ...call, account })) * 3n) / 2n;
        hash = await writes.sendTransaction({
          ...call,
          gas: data.gas === undefined ? await estimated() : BigInt(data.gas),
          maxFeePerGas: BigInt(data.maxFeePerGas),
          maxPriorityFeePerGas: BigInt(data.maxPriorityFeePerGas),
        });
        const receipt = await reads.waitForTransactionReceipt({ hash, timeout: 20_000 });
        if (receipt.status !== "success")
          throw new Error(`${hash} reverted with ${receipt.gasUsed} of ${data.gas} gas used`);
        gasWei += receipt.gasUsed * receipt.effectiveGasPrice;
        block = receipt.blockNumber;
      }
      return { hash, gasWei, block };
    },
    transaction: async (chainId: number, hash: Hex) => await on(chainId).reads.getTransaction({ hash }),
  };
}
