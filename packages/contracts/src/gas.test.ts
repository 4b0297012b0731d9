import { readFileSync, writeFileSync } from "node:fs";
import {
  concat,
  encodeFunctionData,
  keccak256,
  maxUint256,
  parseEther,
  parseSignature,
  toHex,
  type Address,
  type Hex,
} from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  approve,
  call,
  depositBalance,
  id,
  mint,
  nativeTransfer,
  noteBalance,
  payBalance,
  poke,
  requireReceived,
  transfer,
  unwrapBalance,
  wrapBalance,
  zeroAddress,
  type Call,
} from "../test/calls.ts";
import { chainId, freshAddress, people, startTestChain, type TestChain, type Tx } from "../test/chain.ts";
import {
  execute,
  executeMultiple,
  joined,
  mintAction,
  signExecution,
  transferAction,
  type Execution,
} from "../test/executions.ts";
import { installPermit2 } from "../test/permit2.ts";
import { probeAbi, probeBytecode } from "./generated/probe.ts";
import {
  approvalProxyAbi,
  approvalProxyBytecode,
  approveGas,
  callRequestTypes,
  depositAddressFactoryAbi,
  depositAddressFactoryBytecode,
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
  permit2Address,
  permit2Domain,
  permitBatchWitnessTransferFromTypes,
  permitTypes,
  receiveWithAuthorizationTypes,
  routerAbi,
  routerBytecode,
  testUsdAbi,
  testUsdBytecode,
  wrappedEtherAbi,
  wrappedEtherBytecode,
} from "./index.ts";

// The snapshot is what quotes take as the gas of a deposit or a fill, so it may not drift from what the contracts cost.
// UPDATE_GAS=1 writes it anew.

const snapshotFile = new URL("gas-snapshot.json", import.meta.url);
const { user, solver, owner, allocator, deployer } = people;
const amountWei = parseEther("0.512345");
const amountUsd = 1_234_567_891n;
/** A recipient's first tokens and a sender's last ones cost differently; nobody here spends the last one. */
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
  // Addresses are part of the calldata and so of its price: always deploy in this order.
  depository = await chain.deploy(depositoryAbi, depositoryBytecode, [owner.address, allocator.address]);
  router = await chain.deploy(routerAbi, routerBytecode);
  proxy = await chain.deploy(approvalProxyAbi, approvalProxyBytecode, [router]);
  routerProbe = await chain.deploy(probeAbi, probeBytecode);
  proxyProbe = await chain.deploy(probeAbi, probeBytecode);
});
afterAll(async () => await chain.stop());

/** A token that only `holder` has, and that nobody has approved. */
async function freshUsd(holder: Address): Promise<Address> {
  const token = await chain.deploy(testUsdAbi, testUsdBytecode, ["Test USD", "USD"]);
  await chain.send(deployer, { to: token, data: mint(holder, plenty) });
  return token;
}

/** The next account that never held anything. */
function freshRecipient(): Address {
  recipients += 1;
  return freshAddress(0x101 + recipients);
}

async function gasOf(from: (typeof people)[keyof typeof people], tx: Tx): Promise<number> {
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

/** What a solver pays to settle: executions that two of three oracles signed, submitted alone or ten at once. */
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
  // Each order's deposit lies at an address of its own.
  const settled = (n: number, kind: "mint" | "transfer"): Execution => ({
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
          await joined([user, solver], async (one) => await signExecution(one, oracle, execution)),
      ),
    );
    const [execution, signature] = [executions[0], signatures[0]];
    if (execution === undefined || signature === undefined) throw new RangeError("at least one execution");
    const data =
      executions.length === 1
        ? execute(execution, multisig, signature)
        : executeMultiple(executions, multisig, signatures);
    return await gasOf(deployer, { to: oracle, data });
  };
  const ten = Array.from({ length: 10 }, (_, n) => n + 2);
  const mint = await submit([settled(1, "mint")]);
  await submit(ten.map((n) => settled(n, "mint")));
  const transfer = await submit([settled(1, "transfer")]);
  const tenTransfers = await submit(ten.map((n) => settled(n, "transfer")));
  return { mint, transfer, tenTransfers };
}

/** The route that a signature binds, with a relayer and an account for the rest as a service names them. */
async function measureRoutes() {
  await installPermit2(chain);
  const wrapped = await chain.deploy(wrappedEtherAbi, wrappedEtherBytecode);
  const multicall = async (
    calls: readonly Call[],
    refundTokens: readonly Address[] = [],
  ): Promise<number> => {
    const args = [calls, user.address, refundTokens] as const;
    const data = encodeFunctionData({ abi: routerAbi, functionName: "multicall", args });
    return await gasOf(user, { to: router, data, value: amountWei });
  };
  const self = (data: Hex): Call => call(router, data);
  const usdDeposit = (usd: Address): readonly Call[] => [
    self(depositBalance(depository, user.address, usd, amountUsd)),
  ];
  const pulled = async (token: Address, calls: readonly Call[], amount = amountUsd): Promise<number> => {
    await chain.send(user, { to: token, data: approve(proxy, amount) });
    const args = [token, amount, calls, user.address, []] as const;
    const data = encodeFunctionData({ abi: approvalProxyAbi, functionName: "pullAndRoute", args });
    return await gasOf(user, { to: proxy, data });
  };
  // The depository holds native; each token is new to it, and to the router.
  const depositNative = await multicall([
    self(depositBalance(depository, user.address, zeroAddress, amountWei)),
  ]);
  const payNative = await multicall([self(payBalance(zeroAddress, freshRecipient(), amountWei))]);
  const wrapAndPay = await multicall([
    self(wrapBalance(wrapped)),
    self(payBalance(wrapped, freshRecipient(), amountWei)),
  ]);
  await chain.send(user, { to: wrapped, value: amountWei * 2n });
  const unwrapAndPay = await pulled(
    wrapped,
    [self(unwrapBalance(wrapped, amountWei)), self(payBalance(zeroAddress, freshRecipient(), amountWei))],
    amountWei,
  );
  const depositedUsd = await freshUsd(user.address);
  const depositErc20 = await pulled(depositedUsd, usdDeposit(depositedUsd));
  const paidUsd = await freshUsd(user.address);
  const payErc20 = await pulled(paidUsd, [self(payBalance(paidUsd, freshRecipient(), amountUsd))]);
  return {
    depositNative,
    payNative,
    wrapAndPay,
    unwrapAndPay,
    depositErc20,
    payErc20,
    permit2: await measurePermit2(usdDeposit),
    authorization: await measureAuthorization(usdDeposit),
  };
}

async function measurePermit2(calls: (usd: Address) => readonly Call[]): Promise<number> {
  const usd = await freshUsd(user.address);
  await chain.send(user, { to: usd, data: approve(permit2Address, maxUint256) });
  const permit = { permitted: [{ token: usd, amount: amountUsd }], nonce: 1n, deadline: 2n ** 32n };
  const witness = { relayer: solver.address, refundTo: user.address, refundTokens: [], calls: calls(usd) };
  const signature = await user.signTypedData({
    domain: permit2Domain(chainId),
    types: permitBatchWitnessTransferFromTypes,
    primaryType: "PermitBatchWitnessTransferFrom",
    message: { ...permit, spender: proxy, witness },
  });
  const args = [user.address, permit, witness, signature] as const;
  return await gasOf(solver, {
    to: proxy,
    data: encodeFunctionData({ abi: approvalProxyAbi, functionName: "permit2Route", args }),
  });
}

async function measureAuthorization(calls: (usd: Address) => readonly Call[]): Promise<number> {
  const usd = await freshUsd(user.address);
  const witness = { relayer: solver.address, refundTo: user.address, refundTokens: [], calls: calls(usd) };
  const times = { validAfter: 0n, validBefore: 2n ** 32n };
  const unsigned = { token: usd, from: user.address, value: amountUsd, ...times, v: 0, r: id, s: id };
  const nonce = await chain.client.readContract({
    address: proxy,
    abi: approvalProxyAbi,
    functionName: "authorizationNonce",
    args: [unsigned, witness],
  });
  const signature = await user.signTypedData({
    domain: { name: "Test USD", version: "1", chainId, verifyingContract: usd },
    types: receiveWithAuthorizationTypes,
    primaryType: "ReceiveWithAuthorization",
    message: { from: user.address, to: proxy, value: amountUsd, ...times, nonce },
  });
  const { r, s, yParity } = parseSignature(signature);
  const args = [{ ...unsigned, v: 27 + yParity, r, s }, witness] as const;
  return await gasOf(solver, {
    to: proxy,
    data: encodeFunctionData({ abi: approvalProxyAbi, functionName: "authorizationRoute", args }),
  });
}

async function measureDepositAddresses() {
  const factory = await chain.deploy(depositAddressFactoryAbi, depositAddressFactoryBytecode, [
    depository,
    owner.address,
    solver.address,
  ]);
  const keyOf = (n: number) => ({
    id: keccak256(toHex(`address ${n}`)),
    depositor: user.address,
    recovery: allocator.address,
    strict: true,
  });
  const addressOf = async (n: number): Promise<Address> =>
    await chain.client.readContract({
      address: factory,
      abi: depositAddressFactoryAbi,
      functionName: "addressOf",
      args: [keyOf(n)],
    });
  const sweep = async (n: number, currency: Address, amount: bigint): Promise<number> => {
    const args = [keyOf(n), currency, amount, id] as const;
    const data = encodeFunctionData({ abi: depositAddressFactoryAbi, functionName: "sweep", args });
    return await gasOf(solver, { to: factory, data });
  };
  const payNative = async (n: number): Promise<void> =>
    void (await chain.send(user, { to: await addressOf(n), value: amountWei }));
  await payNative(1);
  const nativeFirst = await sweep(1, zeroAddress, amountWei);
  await payNative(1);
  const nativeLater = await sweep(1, zeroAddress, amountWei);

  const paid = async (n: number): Promise<Address> => {
    const usd = await freshUsd(user.address);
    await chain.send(user, { to: usd, data: transfer(await addressOf(n), amountUsd) });
    return usd;
  };
  const erc20First = await sweep(2, await paid(2), amountUsd);
  const erc20Later = await sweep(2, await paid(2), amountUsd);

  const overpaidUsd = await paid(3);
  const overpaidData = encodeFunctionData({
    abi: depositAddressFactoryAbi,
    functionName: "sweepMany",
    args: [
      [1n, amountUsd - 1n].map((amount) => ({ key: keyOf(3), currency: overpaidUsd, amount, orderId: id })),
    ],
  });
  const overpaid = await gasOf(solver, { to: factory, data: overpaidData });

  const usd = await freshUsd(user.address);
  const signature = await user.signTypedData({
    domain: { name: "Test USD", version: "1", chainId, verifyingContract: usd },
    types: permitTypes,
    primaryType: "Permit",
    message: {
      owner: user.address,
      spender: await addressOf(4),
      value: amountUsd,
      nonce: 0n,
      deadline: 2n ** 32n,
    },
  });
  const { r, s, yParity } = parseSignature(signature);
  const permit = { deadline: 2n ** 32n, v: 27 + yParity, r, s };
  const pullData = encodeFunctionData({
    abi: depositAddressFactoryAbi,
    functionName: "pull",
    args: [keyOf(4), usd, amountUsd, permit],
  });
  const pull = await gasOf(solver, { to: factory, data: pullData });

  const recoverData = encodeFunctionData({
    abi: depositAddressFactoryAbi,
    functionName: "recover",
    args: [keyOf(2), await paid(2)],
  });
  const recover = await gasOf(allocator, { to: factory, data: recoverData });
  return { nativeFirst, nativeLater, erc20First, erc20Later, overpaid, pull, recover };
}

test("the gas snapshot is what deposits, fills and payments cost on a node", async () => {
  const deposits = await measureDeposits();
  const measured = {
    ...deposits,
    fill: await measureFills(),
    execute: await measureExecutes(),
    transfer: await measureTransfers(),
    settle: await measureSettlements(),
    route: await measureRoutes(),
    depositAddress: await measureDepositAddresses(),
  };
  // The one switch of this test, for whoever changed a cost on purpose.
  if (process.env["UPDATE_GAS"] === "1") {
    writeFileSync(snapshotFile, `${JSON.stringify(measured, undefined, 2)}\n`);
  }
  expect(measured).toEqual(JSON.parse(readFileSync(snapshotFile, "utf8")));
});

test("the exported figures are the snapshot's, in gas units", () => {
  const snapshot = JSON.parse(readFileSync(snapshotFile, "utf8")) as {
    approve: number;
    deposit: { erc20: number };
    fill: { native: number };
  };
  expect(depositGas.erc20).toBe(BigInt(snapshot.deposit.erc20));
  expect(fillGas.native).toBe(BigInt(snapshot.fill.native));
  expect(approveGas).toBe(BigInt(snapshot.approve));
});
