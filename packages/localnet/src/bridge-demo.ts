import type { WireChain } from "@causeway/wire";
import { formatUnits, parseUnits, type Address, type Hex } from "viem";
import { createApiClient } from "./api-client.ts";
import { shortHex } from "./terminal.ts";
import { createUserWallet } from "./user-wallet.ts";

export interface BridgeDemoOptions {
  readonly apiUrl: string;
  /** Names of the two chains in `GET /chains`. */
  readonly from: string;
  readonly to: string;
  readonly userKey: Hex;
  readonly recipient: Address;
  /** Whole units of USDC. */
  readonly amount: string;
  /** One line of the timeline, without the line break. */
  readonly print: (line: string) => void;
  readonly deadlineMs: number;
}

/** Outcome of the bridge according to the chains. `reason` is set if the funds did not arrive as quoted. */
export interface BridgeDemoResult {
  readonly hasArrived: boolean;
  readonly reason?: string;
  readonly minimumOut: bigint;
  readonly received: bigint;
  readonly tookMs: number;
}

/**
 * Bridges USDC from one chain to another like a user, through the public HTTP API alone, and prints each
 * step. Success means that the recipient's balance on chain grew, regardless of what the API reports.
 */
export async function runBridgeDemo(options: BridgeDemoOptions): Promise<BridgeDemoResult> {
  const startedAtMs = performance.now();
  let lastAtMs = startedAtMs;
  const printStep = (stepName: string, text: string): void => {
    const nowMs = performance.now();
    const [total, sinceLast] = [nowMs - startedAtMs, nowMs - lastAtMs].map((ms) => (ms / 1_000).toFixed(3));
    lastAtMs = nowMs;
    options.print(`  ${total?.padStart(7)} s  (+${sinceLast} s)  ${stepName.padEnd(9)} ${text}`);
  };

  const api = createApiClient(options.apiUrl);
  const chains = await api.chains();
  const [origin, destination] = [findChain(chains, options.from), findChain(chains, options.to)];
  const [pay, receive] = [usdOf(origin), usdOf(destination)];
  const wallet = createUserWallet(
    options.userKey,
    [origin, destination].map(({ id, httpRpcUrl }) => ({ chainId: id, url: httpRpcUrl })),
  );
  const balances = async (): Promise<{ user: bigint; recipient: bigint }> => {
    const [user, recipient] = await Promise.all([
      wallet.balanceOf(origin.id, pay.address, wallet.address),
      wallet.balanceOf(destination.id, receive.address, options.recipient),
    ]);
    return { user, recipient };
  };
  const usdc = (amount: bigint): string => `${formatUnits(amount, receive.decimals)} USDC`;
  const before = await balances();
  lastAtMs = performance.now();

  const quote = await api.quote({
    user: wallet.address,
    recipient: options.recipient,
    originChainId: origin.id,
    destinationChainId: destination.id,
    originCurrency: pay.address,
    destinationCurrency: receive.address,
    amount: parseUnits(options.amount, pay.decimals).toString(),
    tradeType: "EXACT_INPUT",
  });
  const minimumOut = BigInt(quote.details.currencyOut.minimumAmount);
  printStep(
    "quote",
    `${options.amount} USDC in, at least ${usdc(minimumOut)} out; request ${quote.requestId}`,
  );

  await wallet.execute(quote.steps, ({ stepId, receipt }) =>
    printStep(
      stepId,
      `${shortHex(receipt.transactionHash)} in block ${receipt.blockNumber} of ${origin.displayName}`,
    ),
  );
  const deadline = AbortSignal.timeout(options.deadlineMs);
  const end = await api.waitUntilEnded(quote.requestId as Hex, deadline, (answer) =>
    printStep(
      answer.status,
      [`funds at: ${answer.fundsAt}`, ...[...answer.txHashes, ...answer.refundTxHashes].map(shortHex)].join(
        " ",
      ),
    ),
  );

  const after = await balances();
  const received = after.recipient - before.recipient;
  options.print(
    `  user      ${shortHex(wallet.address)}  ${origin.displayName}: ${usdc(before.user)} -> ${usdc(after.user)}`,
  );
  options.print(
    `  recipient ${shortHex(options.recipient)}  ${destination.displayName}: ${usdc(before.recipient)} -> ${usdc(after.recipient)}`,
  );
  const facts = { minimumOut, received, tookMs: Math.round(performance.now() - startedAtMs) };
  if (received >= minimumOut && end.status === "success") return { hasArrived: true, ...facts };
  const reason = `the request ended with ${end.status} (${end.failReason}), and the recipient got ${usdc(received)}, expected at least ${usdc(minimumOut)}`;
  return { hasArrived: false, reason, ...facts };
}

function findChain(chains: readonly WireChain[], name: string): WireChain {
  const namedChain = chains.find((chain) => chain.name === name);
  if (namedChain === undefined) throw new Error(`GET /chains lists no chain ${name}`);
  return namedChain;
}

function usdOf(chain: WireChain): { address: Address; decimals: number } {
  const usdc = chain.erc20Currencies.find(({ symbol }) => symbol === "USDC");
  if (usdc === undefined) throw new Error(`GET /chains lists no USDC on ${chain.name}`);
  return { address: usdc.address as Address, decimals: usdc.decimals };
}
