import { createLocalClient, type NodeAddress } from "@causeway/testkit";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { parseEther, zeroAddress, type Address, type Hex } from "viem";
import { anAddress } from "./bridging.ts";
import { createWallet, type Chain, type Client, type Quote, type Status } from "./client.ts";

/** Two chains on honest nodes, and a service that reaches the nodes through provider proxies. */
export interface BridgedWorld {
  readonly api: Client;
  readonly chains: readonly Chain[];
  readonly nodes: readonly NodeAddress[];
  readonly keys: readonly Hex[];
}

/** One bridge, after its request completed. */
export interface Bridge {
  readonly tookMs: number;
  /** Expects exactly one payment on the chain. May be called repeatedly. */
  readonly checkPayment: () => Promise<void>;
}

/** For each status of a bridge, the expected place of the funds and the expected next action. */
const WAITING: Readonly<Partial<Record<Status["status"], Partial<Status>>>> = {
  waiting: { fundsAt: "user", nextAction: "send_deposit" },
  depositing: { fundsAt: "user", nextAction: "wait_for_confirmations" },
  submitted: { fundsAt: "depository", nextAction: "wait_for_fill" },
  success: { fundsAt: "recipient", nextAction: "none" },
};
const PENDING = ["wait_for_confirmations", "wait_for_fill"];

/**
 * Bridges native tokens from one chain to the other. Expects success, and an accurate status throughout.
 * @param user index of the user whose key pays
 * @param origin index of the chain of the deposit
 * @param withinMs time limit of the quote, and again of the whole bridge
 */
export async function bridge(
  { api, chains, nodes, keys }: BridgedWorld,
  user: number,
  origin: 0 | 1,
  withinMs: number,
): Promise<Bridge> {
  const destination = 1 - origin;
  const wallet = createWallet(keys[user] ?? "0x", chains);
  const recipient = anAddress();
  const fromBlock = await newestBlock(nodes[destination]);
  const startedAtMs = performance.now();
  const quote = await quoteWithin(api, withinMs, {
    user: wallet.address,
    recipient,
    originChainId: chains[origin]?.id,
    destinationChainId: chains[destination]?.id,
    originCurrency: zeroAddress,
    destinationCurrency: zeroAddress,
    amount: parseEther("0.01").toString(),
    tradeType: "EXACT_INPUT",
  });
  const { hash: deposit } = await wallet.execute(quote);
  const checkPayment = async (): Promise<void> => {
    const { payments, amount } = await arrivedAt(nodes[destination], recipient, fromBlock);
    expect(payments).toHaveLength(1);
    const { txHashes } = await api.status(quote.requestId);
    expect(txHashes).toContain(payments[0]);
    const { minimumAmount, amount: quoted } = quote.details.currencyOut;
    expect(amount).toBeGreaterThanOrEqual(BigInt(minimumAmount));
    expect(amount).toBeLessThanOrEqual((BigInt(quoted) * 101n) / 100n);
  };
  for (;;) {
    // The status is read before the chain, because a bridge that is reported as paid must already be paid.
    const status = await api.status(quote.requestId);
    const tookMs = performance.now() - startedAtMs;
    expectTrue(status, deposit);
    if (status.status === "success") {
      await checkPayment();
      return { tookMs, checkPayment };
    }
    if (tookMs > withinMs) throw new Error(`no payment in time: ${JSON.stringify(status)}`);
    await sleep(20);
  }
}

/** Checks a status after the deposit was mined: nothing may fail or be refunded. */
function expectTrue(status: Status, deposit: Hex): void {
  expect(status).toMatchObject({ failReason: "N/A", refundFailReason: "N/A", refundTxHashes: [] });
  if (status.status === "pending") {
    expect(status.fundsAt).toBe("depository");
    expect(PENDING).toContain(status.nextAction);
  } else expect(status).toMatchObject(WAITING[status.status] ?? { status: "a status of a bridge" });
  if (status.fundsAt === "depository" || status.fundsAt === "recipient")
    expect(status.inTxHashes).toEqual([deposit]);
  if (status.status === "submitted" || status.status === "success") expect(status.txHashes).not.toEqual([]);
}

/** Requests a quote. Retries, as wallets do, if a node did not answer in time. */
async function quoteWithin(api: Client, withinMs: number, body: object): Promise<Quote> {
  for (const endMs = performance.now() + withinMs; ;) {
    const { code, body: answer } = await api.call<Quote & { readonly errorCode?: string }>("/quote/v2", body);
    if (code === 200) return answer;
    expect(code).toBe(503);
    expect(["RPC_HTTP_ERROR", "REQUEST_TIMED_OUT"]).toContain(answer.errorCode);
    if (performance.now() > endMs) throw new Error("no quote in time");
    await sleep(50);
  }
}

async function newestBlock(node: NodeAddress | undefined): Promise<bigint> {
  if (node === undefined) throw new Error("the system has fewer than two chains");
  return await createLocalClient(node).getBlockNumber({ cacheTime: 0 });
}

/** The transactions that paid an address since a block, and the address's balance. */
async function arrivedAt(
  node: NodeAddress | undefined,
  recipient: Address,
  fromBlock: bigint,
): Promise<{ readonly payments: readonly Hex[]; readonly amount: bigint }> {
  if (node === undefined) throw new Error("the system has fewer than two chains");
  const client = createLocalClient(node);
  const count = Number((await newestBlock(node)) - fromBlock) + 1;
  const blocks = await Promise.all(
    Array.from(
      { length: count },
      async (_, at) =>
        await client.getBlock({ blockNumber: fromBlock + BigInt(at), includeTransactions: true }),
    ),
  );
  const payments = blocks
    .flatMap(({ transactions }) => transactions)
    .filter(({ to }) => to?.toLowerCase() === recipient.toLowerCase())
    .map(({ hash }) => hash);
  return { payments, amount: await client.getBalance({ address: recipient }) };
}

/** Waits until every chain has mined this many blocks. By then a second payment would have been mined. */
export async function blocksPass(nodes: readonly NodeAddress[], blocks: bigint): Promise<void> {
  await Promise.all(
    nodes.map(async (node) => {
      for (const until = (await newestBlock(node)) + blocks; (await newestBlock(node)) < until;)
        await sleep(100);
    }),
  );
}
