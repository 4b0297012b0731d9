import { evmEvidence, RpcFault, type Evidence, type EvidenceSource } from "@causeway/chains";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { startAnvil, type RunningAnvil } from "@causeway/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { rpcTroubles, startFaultyRpc, type FaultyRpc, type RpcTrouble } from "../../support/faulty-rpc.ts";
import {
  DEPTH,
  nativeCall,
  orderId,
  startEvidenceWorld,
  tokenCall,
  user,
  type EvidenceWorld,
} from "./evidence-world.ts";

// No kind of fault of a single node makes wrong evidence final.

const chainId = 31_412;
const alice: Address = `0x${"a1".repeat(20)}`;

let world: EvidenceWorld;
let branch: RunningAnvil;
let proxy: FaultyRpc;

interface Question {
  readonly name: string;
  ask(source: EvidenceSource): Promise<Evidence<unknown>>;
  /** The final answer according to an honest node. Undefined if the honest answer is not final. */
  truth: Evidence<unknown> | undefined;
}
const questions: Question[] = [];

/** Sends a request to the node on the other branch. */
async function requestOnBranch(method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(branch.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error !== undefined) throw new Error(error.message);
  return result;
}

function open(chain: ConfiguredChain, trouble?: RpcTrouble): EvidenceSource {
  // The deadline exceeds what a busy machine needs, except for the fault that must exceed the deadline.
  const deadlineMs = trouble === "late" ? 60 : 2_000;
  return evmEvidence(chain, { finalBlockReuseMs: 20, rpc: { deadlineMs, maxAnswerBytes: 64 * 1024 } });
}

beforeAll(async () => {
  world = await startEvidenceWorld(chainId);
  await world.deposit(1_000n);
  await world.mint(world.token, world.depository, 1_000n);
  const otherTransaction = await world.deposit(2n);
  const expiration = (await world.newestTime()) + 1_000n;
  const executed = world.payloadOf(nativeCall(alice, 10n), expiration);
  const executedToken = world.payloadOf(tokenCall(world.token, alice, 10n), expiration);
  const expired = world.payloadOf(nativeCall(alice, 11n), expiration);
  await world.mine(DEPTH);

  // The other branch shares earlier blocks, and none of its later blocks is ever final. On that branch, the
  // executed withdrawals were not executed, the time is past their expiration, the expired withdrawal was
  // executed, and there are deposits that the true chain never had.
  const { number } = (await world.wallet.rpc("eth_getBlockByNumber", ["latest", false])) as { number: Hex };
  branch = await startAnvil({
    chainId,
    extraArgs: [
      "--fork-url",
      world.node.url,
      "--fork-block-number",
      BigInt(number).toString(),
      "--no-storage-caching",
    ],
  });
  const send = async (call: object): Promise<Hex> => {
    const hash = await requestOnBranch("eth_sendTransaction", [
      { from: user.address, gas: "0x493e0", ...call },
    ]);
    // The node answers before it mines. After the time jump, the execution would be too late.
    await vi.waitFor(async () => {
      expect(await requestOnBranch("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
    });
    return hash as Hex;
  };
  const depositCall = {
    to: world.depository,
    value: "0x3",
    data: `0x49290c1c${user.address.slice(2).padStart(64, "0")}${orderId.slice(2)}`,
  };
  const orphan = await send(depositCall);
  await send(await world.execution(expired.request));
  await requestOnBranch("evm_increaseTime", [5_000]);
  await requestOnBranch("anvil_mine", ["0x1"]);

  const deposit = await world.deposit(7n);
  const execution = await world.wallet.send(await world.execution(executed.request));
  const tokenExecution = await world.wallet.send(await world.execution(executedToken.request));
  const paid = await world.wallet.send({ to: alice, value: 5n, data: orderId });
  await world.advanceTime(2_000);
  await world.mine(DEPTH + 2n);

  const receipts = [{ recipient: alice, currency: NATIVE_CURRENCY }];
  const payment = {
    orderId,
    solver: alice,
    deadline: 2 ** 33,
    extraData: world.extraData,
    receipts,
    calls: [],
  };
  const list: Omit<Question, "truth">[] = [
    { name: "deposit", ask: async (source) => await source.deposits(deposit) },
    { name: "orphan", ask: async (source) => await source.deposits(orphan) },
    { name: "payment", ask: async (source) => await source.payments(paid, payment) },
    { name: "executed", ask: async (source) => await source.withdrawal(executed.payload, execution) },
    {
      name: "executedToken",
      ask: async (source) => await source.withdrawal(executedToken.payload, tokenExecution),
    },
    {
      name: "executedUnnamed",
      ask: async (source) => await source.withdrawal(executedToken.payload, undefined),
    },
    { name: "expired", ask: async (source) => await source.withdrawal(expired.payload, undefined) },
  ];
  proxy = await startFaultyRpc({
    upstream: world.node.url,
    branch: branch.url,
    lateMs: 150,
    hugeBytes: 128 * 1024,
    otherTransaction,
  });
  const honest = open(world.chainAt());
  for (const question of list) {
    const truth = await question.ask(honest);
    questions.push({ ...question, truth: truth.kind === "final" ? truth : undefined });
  }
  await honest.close();
});
afterAll(async () => {
  await proxy.stop();
  await branch.stop();
  await world.node.stop();
});

function isPending({ kind, ...rest }: Evidence<unknown>): boolean {
  const value = "value" in rest ? (rest.value as { status?: string }) : {};
  return kind === "final" && value.status === "pending";
}

/** Asks every question, and checks that each answer is true or not final. Returns the statuses. */
async function askAll(source: EvidenceSource): Promise<string[]> {
  const seenStatuses: string[] = [];
  for (const { name, ask, truth } of questions) {
    try {
      const evidence = await ask(source);
      seenStatuses.push(`${name} ${evidence.kind}`);
      if (evidence.kind === "final" && !isPending(evidence))
        expect({ name, evidence }).toEqual({ name, evidence: truth });
      expect(evidence.kind).not.toBe("refuted");
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      seenStatuses.push(`${name} ${error.kind}`);
    }
  }
  return seenStatuses;
}

test("an honest node behind the proxy reports the truth, and each question has its expected answer", async () => {
  proxy.trouble(() => undefined);
  const source = open(world.chainAt([proxy.url]));
  await askAll(source);
  await source.close();
  const statusOf = (name: string): unknown => {
    const truth = questions.find((question) => question.name === name)?.truth;
    return truth?.kind === "final" ? (truth.value as { status?: string }).status : undefined;
  };
  expect(statusOf("executed")).toBe("executed");
  expect(statusOf("executedToken")).toBe("executed");
  expect(statusOf("executedUnnamed")).toBe("executed");
  expect(statusOf("expired")).toBe("expired");
  expect(questions.find(({ name }) => name === "orphan")?.truth).toBeUndefined();
  expect(questions.filter(({ truth }) => truth === undefined)).toHaveLength(1);
});

describe.each(rpcTroubles)("%s", (trouble) => {
  test("on every request, this fault makes no wrong answer final", async () => {
    proxy.trouble(() => trouble);
    const source = open(world.chainAt([proxy.url]), trouble);
    await askAll(source);
    await source.close();
  });

  test.each([0, 1, 2, 3])(
    "on only one request (number %i of each question), this fault makes no wrong answer final",
    async (faultyRequest) => {
      for (const question of questions) {
        const source = open(world.chainAt([proxy.url]), trouble);
        proxy.trouble((request) => (request === faultyRequest ? trouble : undefined));
        try {
          const evidence = await question.ask(source);
          if (evidence.kind === "final" && !isPending(evidence)) expect(evidence).toEqual(question.truth);
          expect(evidence.kind).not.toBe("refuted");
        } catch (error) {
          expect(error).toBeInstanceOf(RpcFault);
        } finally {
          await source.close();
        }
      }
    },
  );
});

test("uses the state of a block only after a check that the block is still canonical", async () => {
  const expired = questions.find(({ name }) => name === "expired");
  let last = 0;
  const ask = async (trouble: (request: number) => RpcTrouble | undefined): Promise<unknown> => {
    const source = open(world.chainAt([proxy.url]));
    proxy.trouble((request) => {
      last = request;
      return trouble(request);
    });
    return await expired?.ask(source).finally(async () => await source.close());
  };
  expect(await ask(() => undefined)).toEqual(expired?.truth);
  const lastRequest = last;
  for (const trouble of ["wrongBlockHash", "nullBlock"] as const)
    await expect(ask((request) => (request === lastRequest ? trouble : undefined))).rejects.toThrow(RpcFault);
});

/** The faults of the next requests: one kind of fault, at random requests. */
const schedule = fc.record({
  trouble: fc.constantFrom<RpcTrouble>(...rpcTroubles.filter((kind) => kind !== "late")),
  when: fc.array(fc.boolean(), { minLength: 5, maxLength: 40 }),
});

test("invariant c: whenever and however often a node fails, no withdrawal is both executed and expired, and nothing false is final", async () => {
  const statuses = new Map<string, Set<string>>();
  await fc.assert(
    fc.asyncProperty(schedule, async ({ trouble, when }) => {
      proxy.trouble((request) => (when[request % when.length] === true ? trouble : undefined));
      const source = open(world.chainAt([proxy.url]));
      try {
        for (const { name, ask, truth } of questions) {
          const evidence = await ask(source).catch((error: unknown) => {
            if (error instanceof RpcFault) return undefined;
            throw error;
          });
          if (evidence?.kind !== "final" || isPending(evidence)) continue;
          expect({ name, evidence }).toEqual({ name, evidence: truth });
          const { status } = evidence.value as { status?: string };
          if (status !== undefined) statuses.set(name, (statuses.get(name) ?? new Set()).add(status));
        }
      } finally {
        await source.close();
      }
    }),
    { numRuns: 100 },
  );
  // Each withdrawal was reported at least once with its true status, and never with another final status.
  expect(Object.fromEntries([...statuses].map(([name, seenStatuses]) => [name, [...seenStatuses]]))).toEqual({
    executed: ["executed"],
    executedToken: ["executed"],
    executedUnnamed: ["executed"],
    expired: ["expired"],
  });
}, 60_000);

describe("several endpoints", () => {
  test("two honest endpoints answer, whatever the fault of the third", async () => {
    const source = evmEvidence(
      { ...world.chainAt([proxy.url, world.node.url, world.node.url]), rpcQuorum: 2 },
      { rpc: { deadlineMs: 2_000 } },
    );
    for (const trouble of rpcTroubles) {
      proxy.trouble(() => trouble);
      for (const { name, ask, truth } of questions) {
        if (truth !== undefined)
          expect({ trouble, name, evidence: await ask(source) }).toEqual({ trouble, name, evidence: truth });
      }
    }
    await source.close();
  });

  test("if one of two endpoints is on another branch, nothing is final until both agree", async () => {
    proxy.trouble(() => "otherBranch");
    // With a finality depth of zero, both branches are final to their nodes, as after a fault of the chain
    // itself.
    const chain = world.chainAt(
      [proxy.url, world.node.url],
      { rpcQuorum: 2 },
      { kind: "depth", blocks: 0n, seconds: 0n },
    );
    const reported: unknown[] = [];
    const source = evmEvidence(chain, { onDisagreement: (disagreement) => reported.push(disagreement) });
    const expired = questions.find(({ name }) => name === "expired");
    if (expired === undefined) throw new Error("no such question");
    await expect(expired.ask(source)).rejects.toMatchObject({ kind: "inconsistent" });
    expect(reported).toHaveLength(1);
    await source.close();
  });
});

test("reads a deposit again while it is not final, and answers a known final deposit without further requests", async () => {
  proxy.trouble(() => undefined);
  const source = open(world.chainAt([proxy.url]));
  const [deposit, orphan] = questions;
  if (deposit === undefined || orphan === undefined) throw new Error("no questions");
  await Promise.all([deposit.ask(source), deposit.ask(source), deposit.ask(source)]);
  expect(proxy.requests()).toBeGreaterThan(0);
  const before = proxy.requests();
  expect(await deposit.ask(source)).toEqual(deposit.truth);
  expect(proxy.requests()).toBe(before);
  await orphan.ask(source);
  const requestsBefore = proxy.requests();
  await orphan.ask(source);
  expect(proxy.requests()).toBeGreaterThan(requestsBefore);
  await source.close();
});

test("reads a deposit for the first time in three requests, the first of which reads the chain id", async () => {
  proxy.trouble(() => undefined);
  const source = open(world.chainAt([proxy.url]));
  const methods: string[][] = [];
  proxy.trouble((_request, called) => void methods.push([...called]));
  await Promise.all([questions[0]?.ask(source), questions[0]?.ask(source)]);
  expect(methods).toEqual([
    ["eth_chainId"],
    ["eth_getTransactionReceipt"],
    ["eth_getBlockByNumber", "eth_getBlockByNumber"],
  ]);
  await source.close();
});
