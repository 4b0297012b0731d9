import type { Address, Hex, RequestId, SponsorshipRules } from "@causeway/domain";
import { ONE_USD, defaultSponsorshipRules } from "@causeway/domain";
import { deployAccountAbstraction, localAccount } from "@causeway/localnet";
import type { ExecuteInput } from "@causeway/wire";
import { randomBytes } from "node:crypto";
import { encodeFunctionData, erc20Abi, parseAbi } from "viem";
import type { ApiKeyIdentity } from "../../apps/api/src/http/api-keys.port.ts";
import type { ExecutionRecord } from "../../apps/api/src/payments/executions.port.ts";
import type { IdempotencyLease } from "../../apps/api/src/http/idempotency.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { creditTopUp } from "../../apps/api/src/balances/credit-top-up.ts";
import { executeCalls } from "../../apps/api/src/executions/execute-calls.ts";
import { contractOf, simpleAccount, smartEoa } from "./smart-accounts.ts";
import { anApiKey } from "../fakes/api-keys.ts";
import { startEngineWorld, type EngineWorld, type WorldOptions } from "./engine-world.ts";
import { violatedInvariants } from "./ledger-world.ts";
import type { TestChain } from "./test-chain.ts";
import { someHash } from "./terms.ts";

const mintAbi = parseAbi(["function mint(address to, uint256 amount)"]);

type Calls = NonNullable<ExecuteInput["executionOptions"]["destinationChainExecutionData"]>["calls"];

/**
 * The fields of a call that a test overrides. By default the call is sponsored, has no value, and is made on
 * the first chain.
 */
export interface RequestedExecution {
  readonly to: Address;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly chainId?: number;
  readonly authorizationList?: ExecuteInput["data"]["authorizationList"];
  readonly subsidizeFees?: boolean;
  readonly requestId?: RequestId;
  readonly callsWithFill?: {
    readonly calls: Calls;
    readonly authorizationList?: ExecuteInput["data"]["authorizationList"];
  };
}

/** The balances of a wallet in USDC of the home chain, in base units. */
export interface Book {
  readonly balance: bigint;
  readonly pending: bigint;
  /** What the service earned from all wallets. */
  readonly fees: bigint;
}

/** The engine world with an app that pays for calls. */
export interface ExecutionWorld extends EngineWorld {
  readonly executor: Address;
  /** The key of an app whose wallet has an app balance of 1,000 USDC. */
  readonly app: ApiKeyIdentity;
  anApp(
    change?: Partial<ApiKeyIdentity>,
    usdc?: bigint,
    rules?: Partial<SponsorshipRules>,
  ): Promise<ApiKeyIdentity>;
  body(execution: RequestedExecution): ExecuteInput;
  /**
   * Requests an execution as the app. Returns the request id.
   * @throws if the execution was not accepted
   */
  execute(
    execution: RequestedExecution,
    caller?: ApiKeyIdentity,
    processServices?: WorkerServices,
    lease?: IdempotencyLease,
  ): Promise<RequestId>;
  /** Requests an execution as the app. Returns the outcome, accepted or not. */
  tryExecute(
    execution: RequestedExecution,
    caller?: ApiKeyIdentity,
    processServices?: WorkerServices,
    lease?: IdempotencyLease,
  ): ReturnType<typeof executeCalls>;
  /** A call that any account may make and that always succeeds: it mints this many base units of USDC. */
  mintCall(to: Address, amount?: bigint): { readonly to: Address; readonly data: Hex };
  execution(requestId: RequestId): Promise<ExecutionRecord>;
  book(caller?: ApiKeyIdentity): Promise<Book>;
  /** The invariants of the ledger that are violated. */
  violatedInvariants(): Promise<string[]>;
  /** Deploys entry points and account code on a chain. Call it at most once per chain. */
  withSmartAccounts(chain: TestChain): Promise<Parameters<typeof smartEoa>[0]>;
}

export { contractOf, simpleAccount, smartEoa };

export async function startExecutionWorld(options: WorldOptions = {}): Promise<ExecutionWorld> {
  const engine = await startEngineWorld(options);
  const { origin, usdc, services } = engine;
  const executor = localAccount("executor").address.toLowerCase() as Address;
  const random = { bytes32: () => `0x${randomBytes(32).toString("hex")}` as const };
  for (const chain of [origin, engine.destination]) {
    await chain.fund(executor, { native: 10n ** 20n, tokens: 0n });
    await chain.mine();
    await chain.announce();
  }
  const anApp: ExecutionWorld["anApp"] = async (change = {}, amount = 1_000_000_000n, rules = {}) => {
    const fundingAddress = engine.anAddress();
    if (amount > 0n)
      await services.uow.run(
        async (tx) =>
          await creditTopUp(services, tx, {
            wallet: fundingAddress,
            asset: { chainId: origin.chain.id, currency: usdc },
            amount,
            movementKey: `given:${someHash()}`,
          }),
      );
    return anApiKey({
      id: randomBytes(8).toString("hex"),
      fundingAddress,
      rules: { ...defaultSponsorshipRules, maxCallValueUsd: 100n * ONE_USD, ...rules },
      ...change,
    });
  };
  const app = await anApp();
  const world: ExecutionWorld = {
    ...engine,
    executor,
    app,
    anApp,
    body: ({ to, data = "0x", value = 0n, chainId = origin.chain.id, ...execution }) => ({
      executionKind: "rawCalls",
      data: { chainId, to, data, value: value.toString(), authorizationList: execution.authorizationList },
      executionOptions: {
        referrer: "",
        subsidizeFees: execution.subsidizeFees ?? true,
        destinationChainExecutionData: execution.callsWithFill && {
          ...execution.callsWithFill,
          calls: [...execution.callsWithFill.calls],
        },
      },
      requestId: execution.requestId,
    }),
    tryExecute: async (execution, caller = app, processServices = services, lease) =>
      await executeCalls({ ...processServices, random }, caller, world.body(execution), lease),
    async execute(execution, caller, by, lease) {
      const outcome = await world.tryExecute(execution, caller, by, lease);
      if (outcome.kind !== "accepted") throw new Error(`not accepted: ${JSON.stringify(outcome.failure)}`);
      return outcome.answer.requestId as RequestId;
    },
    mintCall: (to, amount = 5n) => ({
      to: usdc,
      data: encodeFunctionData({ abi: mintAbi, args: [to, amount] }),
    }),
    async execution(requestId) {
      const record = await services.reads.execution(requestId);
      if (record === undefined) throw new Error(`no execution of ${requestId}`);
      return record;
    },
    async book(caller = app) {
      const { rows } = await engine.pool.query<{ account: string; total: bigint }>(
        `select account, sum(amount) as total from ledger_entries where currency = $1 and (wallet = $2 or account = 'fees') group by 1`,
        [usdc, caller.fundingAddress],
      );
      const totalOf = (account: string): bigint => rows.find((row) => row.account === account)?.total ?? 0n;
      return { balance: totalOf("balance"), pending: totalOf("pending"), fees: totalOf("fees") };
    },
    violatedInvariants: async () => await violatedInvariants(engine.pool),
    async withSmartAccounts({ chain, client }) {
      // The deployment waits for blocks, so the chain mines them itself.
      await client.setAutomine(true);
      const contracts = await deployAccountAbstraction({ url: chain.rpcUrl, chainId: chain.id });
      await client.setAutomine(false);
      return { ...chain, contracts } as unknown as Parameters<typeof smartEoa>[0];
    },
  };
  return world;
}

/** A call of `transferFrom`, whose success depends on the allowance of another account. */
export function transferFromCall(token: Address, from: Address, to: Address, amount: bigint) {
  return {
    to: token,
    data: encodeFunctionData({ abi: erc20Abi, functionName: "transferFrom", args: [from, to, amount] }),
  };
}

export function approveCall(token: Address, spender: Address, amount: bigint) {
  return {
    to: token,
    data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] }),
  };
}
