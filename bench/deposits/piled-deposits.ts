import { depositNativeCalldata, NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { createApiClient, fundLocal, startSystem, type QuoteBody, type System } from "@causeway/localnet";
import { createLocalClient } from "@causeway/testkit";
import { transactionsOf } from "@causeway/wire";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { percentileLine, percentilesOf } from "../../scripts/soak/percentiles.ts";
import { pilingCode } from "../../test/support/piled-deposits.ts";
import { chooseCores, pin } from "../cores.ts";
import { median } from "../median.ts";

// Whether quotes on one chain stay fast while blocks of another chain hold 2,000 deposits of one wei, and 24
// reported deposits in them wait to be scanned. `node -C source bench/deposits/piled-deposits.ts`;
// PORT_BASE, ROUNDS and SECONDS set the ports and the duration.

const PORT_BASE = Number(process.env["PORT_BASE"] ?? 27_400);
const ROUNDS = Number(process.env["ROUNDS"] ?? 5);
const SECONDS = Number(process.env["SECONDS"] ?? 6);
const DEPOSITS = 2_000;
const REPORTERS = 24;
const QUOTERS = 2;
const MAX_RATIO = 2;

interface Stage {
  readonly url: string;
  readonly quoteOther: object;
  /**
   * Mines a block with the deposits of one wei. Returns the transactions that made exactly one deposit.
   */
  readonly pile: () => Promise<readonly Hex[]>;
  readonly originId: number;
}

// Child processes inherit the core: nodes, worker and database share one. The API shares the other one with
// the load tool.
const cores = chooseCores();
if (cores !== undefined) pin(process.pid, cores.others);
const system = await startSystem({
  env: process.env,
  portBase: PORT_BASE,
  oracles: 0,
  durable: false,
  users: 1,
});
try {
  if (cores !== undefined)
    for (const pid of [process.pid, ...system.apis.map((api) => api.pid)]) pin(pid, cores.server);
  const stage = await prepare(system);
  await withPiles(stage);
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const quiet = await quotesFor(stage);
    const { quotes: busy, reports, piles } = await withPiles(stage);
    const [before, during] = [percentilesOf(quiet)?.p99, percentilesOf(busy)?.p99];
    if (before === undefined || during === undefined) throw new Error("no quote succeeded");
    ratios.push(during / before);
    console.log(
      `round ${round}: ${piles} blocks of ${DEPOSITS} deposits, p99 ratio ${(during / before).toFixed(2)}`,
    );
    console.log(percentileLine("  quotes of the other chain, quiet", quiet));
    console.log(percentileLine("  quotes of the other chain, piled", busy));
    console.log(percentileLine("  reports", reports));
  }
  const middle = median(ratios);
  console.log(
    `p99 while deposits are scanned / quiet p99: median ${middle.toFixed(2)}, goal at most ${MAX_RATIO}`,
  );
  process.exitCode = middle <= MAX_RATIO ? 0 : 1;
} finally {
  await system.stop();
}

async function prepare({ chains, apis }: System): Promise<Stage> {
  const [origin, other] = chains;
  const url = apis[0]?.url;
  if (origin === undefined || other === undefined || url === undefined)
    throw new Error("invariant violated: the local system lacks a second chain or an API");
  const account = privateKeyToAccount(generatePrivateKey());
  const node = { url: origin.rpcUrl, chainId: origin.id };
  const client = createLocalClient(node);
  await fundLocal(node, [{ address: account.address, nativeWei: 10n ** 21n }]);
  const quoteOf = (from: number, to: number): QuoteBody => ({
    user: account.address,
    recipient: anAddress(),
    originChainId: from,
    originCurrency: NATIVE_CURRENCY,
    destinationChainId: to,
    destinationCurrency: NATIVE_CURRENCY,
    amount: "4000000000000000",
    tradeType: "EXACT_INPUT",
  });
  const { steps } = await createApiClient(url).quote(quoteOf(origin.id, other.id));
  const calldata = transactionsOf(steps).at(-1)?.data;
  if (calldata === undefined) throw new Error("the quote has no deposit step");
  // The calldata ends with the order id.
  const orderId: Hex = `0x${calldata.slice(-64)}`;
  const { depository } = origin.contracts;
  let nonce = await client.getTransactionCount({ address: account.address });
  const send = async (to: Address, data: Hex, value: bigint, gas: bigint): Promise<Hex> =>
    await client.sendTransaction({ account, to, data, value, gas, nonce: nonce++ });
  const pile = async (): Promise<readonly Hex[]> => {
    const contract = anAddress();
    const bytecode = pilingCode(depository, depositNativeCalldata(anAddress(), orderId), DEPOSITS);
    await client.setCode({ address: contract, bytecode });
    await client.setBalance({ address: contract, value: 10n ** 18n });
    const hash = await send(contract, "0x", 0n, 22_000_000n);
    const single: Hex[] = [];
    for (let n = 0; n < REPORTERS; n++)
      single.push(await send(depository, depositNativeCalldata(anAddress(), orderId), 1n, 200_000n));
    const receipts = await Promise.all(
      [hash, ...single].map(
        async (transactionHash) => await client.waitForTransactionReceipt({ hash: transactionHash }),
      ),
    );
    if (receipts.some(({ status }) => status !== "success")) throw new Error("the deposits were not made");
    return single;
  };
  return { url, originId: origin.id, quoteOther: quoteOf(other.id, origin.id), pile };
}

async function withPiles(stage: Stage): Promise<{ quotes: number[]; reports: number[]; piles: number }> {
  const stopped = new AbortController();
  const reports: number[] = [];
  let piles = 0;
  const report = async (txHash: Hex): Promise<void> => {
    const body = { chainId: String(stage.originId), txHash };
    reports.push(await timed(async () => await post(stage.url, "/transactions/index", body)));
  };
  const piling = (async () => {
    while (!stopped.signal.aborted) {
      await Promise.all((await stage.pile()).map(report));
      piles += 1;
    }
  })();
  const quotes = await quotesFor(stage);
  stopped.abort();
  await piling;
  return { quotes, reports, piles };
}

/** Milliseconds of each quote. */
async function quotesFor({ url, quoteOther }: Stage): Promise<number[]> {
  const endsAtMs = performance.now() + SECONDS * 1_000;
  const tookMs: number[] = [];
  const quoter = async (): Promise<void> => {
    while (performance.now() < endsAtMs) {
      tookMs.push(await timed(async () => await (await post(url, "/quote/v2", quoteOther)).text()));
      await sleep(5);
    }
  };
  await Promise.all(Array.from({ length: QUOTERS }, quoter));
  return tookMs;
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await act();
  return performance.now() - startedAtMs;
}

async function post(url: string, path: string, body: object): Promise<Response> {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} returned ${answer.status}: ${await answer.text()}`);
  return answer;
}

function anAddress(): Address {
  return `0x${randomBytes(20).toString("hex")}`;
}
