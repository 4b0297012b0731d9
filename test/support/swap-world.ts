import { createPoolReader, createRpcTransport } from "@causeway/chains";
import type { Address, Order, RequestTerms, TxHash } from "@causeway/domain";
import { encodeFillContract, priceInput, NATIVE_CURRENCY, orderIdOf } from "@causeway/domain";
import { localDeployment, openPools } from "@causeway/localnet";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { privateKeyToAccount } from "viem/accounts";
import { createChainPools } from "../../apps/api/src/markets/liquidity/chain-pools.adapter.ts";
import { createPoolLiquidity } from "../../apps/api/src/markets/liquidity/pool-liquidity.adapter.ts";
import { groupedQuoteInserts } from "../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import type {
  LiquiditySource,
  SwapAnswer,
  SwapQuestion,
} from "../../apps/api/src/markets/liquidity/liquidity.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { openLane } from "../../apps/api/src/payments/open-lane.ts";
import { fillSwapQuoter } from "../../apps/api/src/payments/fill-swap.ts";
import { pricingOfFill } from "../../apps/api/src/payments/fill-amount.ts";
import {
  startEngineWorld,
  type QuotedRequest,
  type EngineWorld,
  type EngineWorldOptions,
} from "./engine-world.ts";
import { approveCall } from "./execution-world.ts";
import { someAddress, someHash } from "./terms.ts";
import type { TestChain } from "./test-chain.ts";

/**
 * The terms of a request: a deposit of 100 USDC on the first chain and, by default, a fill on the second
 * chain that is swapped from USDC.
 */
export interface SwapParams {
  /** The currency that the recipient gets. */
  readonly currency: Address;
  /** The currency that the solver pays from. Default: `currency`. */
  readonly paidFrom?: Address | undefined;
  readonly deposit?: bigint;
  /** The minimum deposit that is filled, if the deposit follows a swap. */
  readonly minimumDeposit?: bigint;
  readonly recipient?: Address;
  /** How far the minimum is below the expected output, in bps. */
  readonly slippageBps?: number;
  readonly terms?: Partial<RequestTerms>;
}

/** An engine on chains with pools. The solver's tokens are approved to the proxy. */
export interface SwapWorld extends EngineWorld {
  readonly liquidity: LiquiditySource;
  readonly tst: Address;
  readonly odd: Address;
  readonly weth: Address;
  /** Stores the terms that a quote with these swaps would have now. */
  storeRequest(params: SwapParams): Promise<QuotedRequest>;
  /** The best swap on a chain now. */
  bestSwap(chain: TestChain, tokenIn: Address, tokenOut: Address, amountIn: bigint): Promise<SwapAnswer>;
  /** The amount that the solver would pay for a deposit, before the swap. Default: the quoted deposit. */
  outputBeforeSwap(quoted: QuotedRequest, deposited?: bigint): Promise<bigint>;
  /** A third party swaps this amount on a chain. Returns the hash of the pending transaction. */
  trade(chain: TestChain, tokenIn: Address, tokenOut: Address, amountIn: bigint): Promise<TxHash>;
}

const toLower = (address: string | null): Address => (address ?? "0x").toLowerCase() as Address;

function tokenOf(symbol: string): Address {
  return toLower(localDeployment.tokens.find((token) => token.symbol === symbol)?.address ?? null);
}

/** Starts the chains and their pools. */
export async function startSwapWorld(options: EngineWorldOptions = {}): Promise<SwapWorld> {
  const world = await startEngineWorld(options);
  const stop = world.stop.bind(world);
  const watch = world.watch.bind(world);
  world.prices.set("causeway-odd-token", "4");
  const closeFunctions: (() => Promise<void>)[] = [];
  const pooledChains = await Promise.all(
    [world.origin, world.destination].map(async ({ chain, connected, announce, mine, send }) => {
      const node = { url: chain.rpcUrl, chainId: chain.id };
      await openPools(node);
      for (const token of [tokenOf("USDC"), tokenOf("TST")])
        await send(world.solver, approveCall(token, chain.contracts.approvalProxy, 2n ** 255n));
      // Mines until the base fee is at its minimum, so that only pools move prices.
      await mine(180);
      await announce();
      await openLane(world.services, connected);
      if (chain.liquidity === undefined) throw new Error("the local chains have no pools");
      const transport = createRpcTransport({ url: chain.rpcUrl });
      const pools = createChainPools({
        sources: chain.liquidity.sources,
        pools: createPoolReader(transport, chain.contracts.multicall3),
        reader: connected.connection.reader,
        heads: connected.connection.heads,
        clock: world.clock,
        onFault: (error) => world.events.fault("liquidity_fault", error, { chain: chain.name }),
      });
      closeFunctions.push(async () => {
        pools.close();
        await transport.close();
      });
      const plainApprovals = new Set(chain.tokens.map(({ address }) => address));
      return { chainId: chain.id, liquidity: chain.liquidity, pools, plainApprovals };
    }),
  );
  const liquidity = createPoolLiquidity(pooledChains);
  Object.assign(world.services, { liquidity });
  const insert = groupedQuoteInserts(sqlOn(world.pool));
  const [tst, odd, weth] = [tokenOf("TST"), tokenOf("ODD"), tokenOf("WETH")];

  const questionOn = ({ chain }: TestChain, tokenIn: Address, tokenOut: Address): SwapQuestion => ({
    chainId: chain.id,
    tokenIn: tokenIn === NATIVE_CURRENCY ? weth : tokenIn,
    tokenOut: tokenOut === NATIVE_CURRENCY ? weth : tokenOut,
    included: undefined,
    excluded: new Set(),
    maxHops: 3,
    shouldQueryExternal: false,
  });
  const bestSwap: SwapWorld["bestSwap"] = async (chain, tokenIn, tokenOut, amountIn) => {
    const answer = await liquidity.exactIn(questionOn(chain, tokenIn, tokenOut), amountIn);
    if (answer === undefined) throw new Error("the local pools have no route between these tokens");
    return answer;
  };

  const outputBeforeSwap = async (
    from: Address,
    to: { currency: Address; paidFrom?: Address | undefined },
    deposited: bigint,
  ) => {
    const [origin, destination] = [world.origin.connected, world.destination.connected];
    const terms = {
      requestId: someHash(),
      recipient: someAddress(),
      origin: { chainId: origin.chain.id, currency: from },
      destination: {
        chainId: destination.chain.id,
        currency: to.currency,
        ...(to.paidFrom !== undefined && { paidFrom: to.paidFrom }),
      },
    };
    const { currency, paidFrom } = to;
    const { routed } = world.services.quotePolicy.gas;
    const swap =
      paidFrom && fillSwapQuoter(world.services.liquidity, destination.chain, { paidFrom, currency }, routed);
    const facts = { toContract: false, swapQuoter: swap };
    const pricing = await pricingOfFill(world.services, terms, { origin, destination }, deposited, facts);
    return priceInput(deposited, pricing.facts).output;
  };

  return Object.assign(world, {
    liquidity,
    // On a busy machine, pools may answer from the previous block, but tests need the newest one.
    async watch(chain: TestChain, processServices?: WorkerServices) {
      const trail = await watch(chain, processServices);
      const pools = pooledChains.find(({ chainId }) => chainId === chain.chain.id)?.pools;
      const head = chain.connected.connection.heads.latest;
      while (pools?.cached() !== undefined && (await pools.read([])).block.hash !== head?.hash)
        await sleep(5);
      return trail;
    },
    tst,
    odd,
    weth,
    bestSwap,
    async storeRequest({
      currency,
      paidFrom,
      deposit = 100_000_000n,
      minimumDeposit,
      recipient = world.anAddress(),
      slippageBps = 100,
      terms: change = {},
    }: SwapParams): Promise<QuotedRequest> {
      const { origin, destination, services, usdc, user } = world;
      const depositCurrency = change.origin?.currency ?? usdc;
      const solverOutput = await outputBeforeSwap(depositCurrency, { currency, paidFrom }, deposit);
      const isWrap =
        paidFrom !== undefined &&
        [paidFrom, currency].every((token) => token === weth || token === NATIVE_CURRENCY);
      const expectedAmount =
        paidFrom === undefined || isWrap
          ? solverOutput
          : (await bestSwap(destination, paidFrom, currency, solverOutput)).amountOut;
      const minimumAmount = (expectedAmount * BigInt(10_000 - slippageBps)) / 10_000n;
      const nowMs = world.clock.nowMs();
      const routerExtraData = (chain: TestChain) => encodeFillContract(chain.chain.contracts.router);
      const deadline = Math.ceil(nowMs / 1000) + 7200;
      const order: Order = {
        version: "v1",
        solverChainId: origin.chain.name,
        solver: world.solver.address,
        salt: `0x${randomBytes(32).toString("hex")}`,
        inputs: [
          {
            payment: {
              chainId: origin.chain.name,
              currency: depositCurrency,
              amount: minimumDeposit ?? deposit,
              weight: 1n,
            },
            refunds: [
              {
                chainId: origin.chain.name,
                recipient: user.address,
                currency: depositCurrency,
                minimumAmount: ((minimumDeposit ?? deposit) * 9n) / 10n,
                deadline: deadline + 7200,
                extraData: routerExtraData(origin),
              },
            ],
          },
        ],
        output: {
          chainId: destination.chain.name,
          payments: [{ recipient, currency, minimumAmount, expectedAmount }],
          calls: [],
          deadline,
          extraData: routerExtraData(destination),
        },
        fees: [],
      };
      const terms: RequestTerms = {
        requestId: someHash(),
        orderId: orderIdOf(order),
        kind: "bridge",
        tradeType: "EXACT_INPUT",
        user: user.address,
        recipient,
        refundTo: user.address,
        inputUsd: 100n * 10n ** 18n,
        explicitDeposit: true,
        createdAtMs: nowMs,
        firmUntilMs: nowMs + services.quotePolicy.firmSeconds * 1000,
        fillDeadlineMs: nowMs + 3600_000,
        referrer: undefined,
        forceRefund: false,
        order,
        ...change,
        origin: {
          chainId: origin.chain.id,
          currency: depositCurrency,
          amount: deposit,
          ...(minimumDeposit !== undefined && { minimumAmount: minimumDeposit }),
          ...change.origin,
        },
        destination: {
          chainId: destination.chain.id,
          currency,
          expectedAmount,
          minimumAmount,
          ...(paidFrom !== undefined && { paidFrom }),
          ...change.destination,
        },
      };
      await insert(terms);
      const since = new Map(
        [origin, destination].map(({ chain, connected }) => [
          chain.id,
          connected.connection.heads.latest?.number ?? 0n,
        ]),
      );
      return {
        answer: { requestId: terms.requestId } as QuotedRequest["answer"],
        terms,
        requestId: terms.requestId,
        since,
      };
    },
    outputBeforeSwap: ({ terms: { origin, destination } }: QuotedRequest, deposited = origin.amount) =>
      outputBeforeSwap(origin.currency, destination, deposited),
    async trade(chain: TestChain, tokenIn: Address, tokenOut: Address, amountIn: bigint) {
      const { calls } = await bestSwap(chain, tokenIn, tokenOut, amountIn);
      let swapHash: TxHash = "0x";
      for (const call of calls({ kind: "exactIn", limit: 0n, recipient: world.stranger.address }))
        swapHash = await chain.client.sendTransaction({
          account: privateKeyToAccount(world.stranger.privateKey),
          ...call,
          gas: 1_000_000n,
          maxFeePerGas: 500_000_000_000n,
          maxPriorityFeePerGas: 1_000_000_000n,
          nonce: await chain.client.getTransactionCount({
            address: world.stranger.address,
            blockTag: "pending",
          }),
        });
      return swapHash;
    },
    async stop() {
      await Promise.all(closeFunctions.map(async (close) => await close()));
      await stop();
    },
  });
}
