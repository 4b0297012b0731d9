// What you would provide yourself: a chain's node, an API key and a funded account. Here they come from the
// local system that `npm start` runs. The calls that matter are in the examples themselves.
import { existsSync, readFileSync } from "node:fs";
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  erc20Abi,
  formatUnits,
  http,
  type Account,
  type Address,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";

interface Endpoints {
  readonly api: { readonly url: string };
  readonly chains: readonly {
    readonly id: number;
    readonly name: string;
    readonly rpcUrl: string;
    readonly contracts: Readonly<Record<string, Address>>;
    readonly tokens: readonly { readonly symbol: string; readonly address: Address }[];
  }[];
  readonly accounts: readonly { readonly role: string; readonly privateKey: Hex }[];
  readonly apiKeys: readonly { readonly key: string; readonly fundingAddress: Address }[];
}

// Print only the message of an error: its stack is not useful here.
process.on("uncaughtException", ({ message }) => {
  console.error(message);
  process.exit(1);
});

const notRunning = "no local system is running; start one with `npm start` in another terminal";
const file = process.env["ENDPOINTS"] ?? new URL("../.localnet/endpoints.json", import.meta.url);
if (!existsSync(file)) fail(notRunning);
const system = JSON.parse(readFileSync(file, "utf8")) as Endpoints;
await fetch(`${system.api.url}/health/live`).catch(() =>
  fail(`${notRunning} (no response from ${system.api.url})`),
);

/** The base URL of the API. */
export const apiUrl = system.api.url;

/** The API key of an app, and the wallet whose app balance pays for calls with that key. */
export const app = first(system.apiKeys, "API key");

export type LocalChain = ReturnType<typeof chainNamed>;

export function chainNamed(wanted: string) {
  const { id, name, rpcUrl, contracts, tokens } = first(
    system.chains.filter((one) => one.name === wanted),
    wanted,
  );
  const transport = http(rpcUrl);
  const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
  const chain = defineChain({ id, name, nativeCurrency, rpcUrls: { default: { http: [rpcUrl] } } });
  const reads = createPublicClient({ chain, transport, pollingInterval: 100, cacheTime: 0 });
  const token = (wantedSymbol: string): Address =>
    first(
      tokens.filter(({ symbol }) => symbol === wantedSymbol),
      wantedSymbol,
    ).address;
  const usdc = token("USDC");
  return {
    id,
    name,
    rpcUrl,
    usdc,
    token,
    reads,
    contract: (called: string): Address => contracts[called] ?? fail(`${name} has no ${called}`),
    wallet: (account: Account) => createWalletClient({ chain, transport, account }),
    usdcOf: async (address: Address): Promise<bigint> =>
      await reads.readContract({ address: usdc, abi: erc20Abi, functionName: "balanceOf", args: [address] }),
  };
}

/** The `index`-th user account. Each has money on both chains from the start. */
export function fundedUser(index: number) {
  const users = system.accounts.filter(({ role }) => role === "user");
  return privateKeyToAccount(users[index]?.privateKey ?? fail(`user ${index} does not exist`));
}

/** @param usdc base units, six decimals */
export async function giveUsdc(chain: LocalChain, to: Address, usdc: bigint): Promise<void> {
  const hash = await chain.wallet(fundedUser(0)).writeContract({
    address: chain.usdc,
    abi: erc20Abi,
    functionName: "transfer",
    args: [to, usdc],
  });
  await chain.reads.waitForTransactionReceipt({ hash });
}

/** @throws Error with the whole response if its status is not 200 */
export async function callApi<Answer>(
  path: string,
  body?: object,
  method: string = body === undefined ? "GET" : "POST",
): Promise<Answer> {
  const response = await fetch(`${system.api.url}${path}`, {
    method,
    headers: { "x-api-key": app.key, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${text}`);
  return JSON.parse(text) as Answer;
}

/** Polls until the request has ended, and prints one line per new status. */
export async function waitUntilEnded(requestId: string): Promise<string> {
  for (let last = "", tries = 0; tries < 120; tries++) {
    const { status } = await callApi<{ status: string }>(`/intents/status/v3?requestId=${requestId}`);
    if (status !== last) print("status", status);
    last = status;
    if (["success", "failure", "refund"].includes(status)) return status;
    await pause(500);
  }
  return "still pending after a minute";
}

/** The app's balance with the service, in US dollars. */
export async function appBalance(): Promise<{ totalUsd: number; heldUsd: number }> {
  const answer = await callApi<{ totalBalanceUsd: number; outstandingFastFillBalanceUsd: number }>(
    `/app-fees/${app.fundingAddress}/balances`,
  );
  return { totalUsd: answer.totalBalanceUsd, heldUsd: answer.outstandingFastFillBalanceUsd };
}

export const inUsdc = (amount: bigint): string => `${formatUnits(amount, 6)} USDC`;

export const pause = async (ms: number): Promise<void> => await new Promise((done) => setTimeout(done, ms));

export function print(what: string, text: string): void {
  console.log(`  ${what.padEnd(10)} ${text}`);
}

/** Prints the result. The exit code is 0 only if the money is where it should be. */
export function conclude(arrived: boolean, text: string): void {
  console.log(arrived ? text : `UNEXPECTED RESULT: ${text}`);
  process.exitCode = arrived ? 0 : 1;
}

function first<Thing>(things: readonly Thing[], called: string): Thing {
  return things[0] ?? fail(`the local system has no ${called}`);
}

function fail(problem: string): never {
  throw new Error(problem);
}
