import { readFileSync, writeFileSync } from "node:fs";
import { concat, encodeFunctionData, keccak256, parseEther, toHex, type Address, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  approve,
  call,
  id,
  mint,
  nativeTransfer,
  noteBalance,
  poke,
  requireReceived,
  transfer,
  zeroAddress,
} from "../test/calls.ts";
import { chainId, freshAddress, accounts, startTestChain, type TestChain, type Tx } from "../test/chain.ts";
import {
  encodeExecute,
  executeMultiple,
  signAscending,
  mintAction,
  signExecution,
  transferAction,
  type Execution,
} from "../test/executions.ts";
import { measureDepositAddresses } from "../test/measure-deposit-addresses.ts";
import { measureRoutes } from "../test/measure-routes.ts";
import { probeAbi, probeBytecode } from "./generated/probe.ts";
import {
  approvalProxyAbi,
  approvalProxyBytecode,
  approveGas,
  callRequestTypes,
  depositGas,
  depositoryAbi,
  depositoryBytecode,
  depositoryDomain,
  fillGas,
  hubAbi,
  hubBytecode,
  oracleAbi,
  oracleBytecode,
  oracleMultisigAbi,
  oracleMultisigBytecode,
  routerAbi,
  routerBytecode,
  testUsdAbi,
  testUsdBytecode,
} from "./index.ts";

// Quotes use the snapshot as the gas of deposits and fills, so it must match what the contracts use.
// UPDATE_GAS=1 rewrites it.

const snapshotFile = new URL("gas-snapshot.json", import.meta.url);
const { user, solver, owner, allocator, deployer } = accounts;
const amountWei = parseEther("0.512345");
const amountUsd = 1_234_567_891n;
/** More than any sender spends: the gas of a transfer differs if it empties the sender's balance. */
const plenty = 10n ** 15n;

let chain: TestChain;
let depository: Address;
let router: Address;
let proxy: Address;
let routerProbe: Address;
let proxyProbe: Address;
let recipients = 0;

beforeAll(async () => {
  chain = await startTestChain();
  // Addresses are part of the calldata and of its gas, so the contracts are always deployed in this order.
  depository = await chain.deploy(depositoryAbi, depositoryBytecode, [owner.address, allocator.address]);
  router = await chain.deploy(routerAbi, routerBytecode);
  proxy = await chain.deploy(approvalProxyAbi, approvalProxyBytecode, [router]);
  routerProbe = await chain.deploy(probeAbi, probeBytecode);
  proxyProbe = await chain.deploy(probeAbi, probeBytecode);
});
afterAll(async () => await chain.stop());

/** A token that only `holder` has, without approvals. */
async function freshUsd(holder: Address): Promise<Address> {
  const token = await chain.deploy(testUsdAbi, testUsdBytecode, ["Test USD", "USD"]);
  await chain.send(deployer, { to: token, data: mint(holder, plenty) });
  return token;
}

/** A new account without a balance. */
function freshRecipient(): Address {
  recipients += 1;
  return freshAddress(0x101 + recipients);
}

async function gasOf(from: (typeof accounts)[keyof typeof accounts], tx: Tx): Promise<number> {
  const { gasUsed } = await chain.send(from, tx);
  return Number(gasUsed);
}

function withId(data: Hex): Hex {
  return concat([data, id]);
}

async function measureDeposits() {
  const data = encodeFunctionData({
    abi: depositoryAbi,
    functionName: "depositNative",
    args: [user.address, id],
  });
  // The first deposit differs from later ones only in the depository's balance, which costs nothing extra.
  const native = await gasOf(user, { to: depository, data, value: amountWei });

  const usd = await freshUsd(user.address);
  const approveGasUsed = await gasOf(user, { to: usd, data: approve(depository, amountUsd * 2n) });
  const erc20 = await gasOf(user, {
    to: depository,
    data: encodeFunctionData({
      abi: depositoryAbi,
      functionName: "depositErc20",
      args: [user.address, usd, amountUsd, id],
    }),
  });

  const otherUsd = await freshUsd(user.address);
  await chain.send(user, { to: otherUsd, data: approve(depository, amountUsd) });
  const erc20FullAllowance = await gasOf(user, {
    to: depository,
    data: encodeFunctionData({
      abi: depositoryAbi,
      functionName: "depositErc20",
      args: [user.address, otherUsd, id],
    }),
  });

  const thirdUsd = await freshUsd(user.address);
  const erc20Transfer = await gasOf(user, { to: thirdUsd, data: withId(transfer(depository, amountUsd)) });
  return { approve: approveGasUsed, deposit: { native, erc20, erc20FullAllowance, erc20Transfer } };
}

async function measureFills() {
  const native = await gasOf(solver, { to: freshRecipient(), data: id, value: amountWei });

  const usd = await freshUsd(solver.address);
  const erc20 = await gasOf(solver, { to: usd, data: withId(transfer(freshRecipient(), amountUsd)) });

  const routerNative = await gasOf(solver, {
    to: router,
    data: withId(nativeTransfer(freshRecipient(), amountWei)),
    value: amountWei,
  });

  const calls = [
    call(router, nativeTransfer(freshRecipient(), amountWei), amountWei),
    call(routerProbe, poke(1n)),
  ];
  const routerCall = await gasOf(solver, {
    to: router,
    data: withId(
      encodeFunctionData({ abi: routerAbi, functionName: "multicall", args: [calls, zeroAddress, []] }),
    ),
    value: amountWei,
  });

  await chain.send(solver, { to: usd, data: approve(proxy, plenty) });
  const recipient = freshRecipient();
  const tokenCalls = [
    call(router, noteBalance(usd, recipient)),
    call(usd, transfer(recipient, amountUsd)),
    call(proxyProbe, poke(1n)),
    call(router, requireReceived(usd, recipient, amountUsd)),
  ];
  const proxyCall = await gasOf(solver, {
    to: proxy,
    data: withId(
      encodeFunctionData({
        abi: approvalProxyAbi,
        functionName: "pullAndRoute",
        args: [usd, amountUsd, tokenCalls, zeroAddress, []],
      }),
    ),
  });
  return { native, erc20, routerNative, routerCall, proxyCall };
}

async function measureExecute(nonce: bigint, payment: ReturnType<typeof call>): Promise<number> {
  const request = { calls: [payment], nonce, expiration: 2n ** 32n - 1n };
  const signature = await allocator.signTypedData({
    domain: depositoryDomain(chainId, depository),
    types: callRequestTypes,
    primaryType: "CallRequest",
    message: request,
  });
  const data = encodeFunctionData({
    abi: depositoryAbi,
    functionName: "execute",
    args: [request, signature],
  });
  return await gasOf(solver, { to: depository, data });
}

async function measureExecutes() {
  const usd = await freshUsd(depository);
  const native = await measureExecute(1n, call(freshRecipient(), "0x", amountWei / 2n));
  const erc20 = await measureExecute(2n, call(usd, transfer(freshRecipient(), amountUsd)));
  return { native, erc20 };
}

async function measureTransfers() {
  const native = await gasOf(user, { to: freshRecipient(), value: amountWei });
  const usd = await freshUsd(user.address);
  const erc20 = await gasOf(user, { to: usd, data: transfer(freshRecipient(), amountUsd) });
  return { native, erc20 };
}

/** Gas of settlements: executions signed by two of three oracles, submitted one by one or ten in one call. */
async function measureSettlements() {
  const hub = await chain.deploy(hubAbi, hubBytecode, [owner.address]);
  const oracle = await chain.deploy(oracleAbi, oracleBytecode, [owner.address, hub, "Oracle", "1"]);
  const oracles = [user, solver, allocator];
  const signers = oracles.map(({ address }) => address);
  const multisig = await chain.deploy(oracleMultisigAbi, oracleMultisigBytecode, [
    owner.address,
    signers,
    2n,
  ]);
  for (const [to, holder] of [
    [hub, oracle],
    [oracle, multisig],
  ] as const) {
    const data = encodeFunctionData({ abi: hubAbi, functionName: "grantRoles", args: [holder, 1n] });
    await chain.send(owner, { to, data });
  }
  // Each order's deposit has its own address on the hub.
  const settlement = (n: number, kind: "mint" | "transfer"): Execution => ({
    idempotencyKey: keccak256(toHex(`${kind} ${n}`)),
    actions: [
      kind === "mint"
        ? mintAction(freshAddress(0x200 + n), 1n, amountUsd)
        : transferAction(freshAddress(0x200 + n), solver.address, 1n, amountUsd),
    ],
  });
  const submit = async (executions: readonly Execution[]): Promise<number> => {
    const signatures = await Promise.all(
      executions.map(
        async (execution) =>
          await signAscending(
            [user, solver],
            async (signer) => await signExecution(signer, oracle, execution),
          ),
      ),
    );
    const [execution, signature] = [executions[0], signatures[0]];
    if (execution === undefined || signature === undefined)
      throw new RangeError("expected at least one execution");
    const data =
      executions.length === 1
        ? encodeExecute(execution, multisig, signature)
        : executeMultiple(executions, multisig, signatures);
    return await gasOf(deployer, { to: oracle, data });
  };
  const ten = Array.from({ length: 10 }, (_, n) => n + 2);
  const mint = await submit([settlement(1, "mint")]);
  await submit(ten.map((n) => settlement(n, "mint")));
  const transfer = await submit([settlement(1, "transfer")]);
  const tenTransfers = await submit(ten.map((n) => settlement(n, "transfer")));
  return { mint, transfer, tenTransfers };
}

test("the gas snapshot equals the gas that deposits, fills and payments use on a node", async () => {
  const deposits = await measureDeposits();
  const bench = { chain, depository, router, proxy, amountWei, amountUsd, freshUsd, freshRecipient, gasOf };
  const measured = {
    ...deposits,
    fill: await measureFills(),
    execute: await measureExecutes(),
    transfer: await measureTransfers(),
    settle: await measureSettlements(),
    route: await measureRoutes(bench),
    depositAddress: await measureDepositAddresses(bench),
  };
  // Set this after an intended change.
  if (process.env["UPDATE_GAS"] === "1") {
    writeFileSync(snapshotFile, `${JSON.stringify(measured, undefined, 2)}\n`);
  }
  expect(measured).toEqual(JSON.parse(readFileSync(snapshotFile, "utf8")));
});

test("the exported figures equal the snapshot, in gas units", () => {
  const snapshot = JSON.parse(readFileSync(snapshotFile, "utf8")) as {
    approve: number;
    deposit: { erc20: number };
    fill: { native: number };
  };
  expect(depositGas.erc20).toBe(BigInt(snapshot.deposit.erc20));
  expect(fillGas.native).toBe(BigInt(snapshot.fill.native));
  expect(approveGas).toBe(BigInt(snapshot.approve));
});
