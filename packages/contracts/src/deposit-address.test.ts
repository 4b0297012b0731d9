import {
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionData,
  getAbiItem,
  getContractAddress,
  keccak256,
  parseEther,
  parseSignature,
  toHex,
  type Abi,
  type AbiFunction,
  type Address,
  type Hex,
} from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  approve,
  eventsOf,
  deployApprovedToken,
  id,
  mint,
  nativeTransfer,
  reenteredError,
  transfer,
  zeroAddress,
} from "../test/calls.ts";
import { chainId, accounts, startTestChain, type TestChain, type Tx } from "../test/chain.ts";
import { callbackTokenAbi, callbackTokenBytecode } from "./generated/callback-token.ts";
import { frugalPayerAbi, frugalPayerBytecode } from "./generated/frugal-payer.ts";
import { keepsAllowanceAbi, keepsAllowanceBytecode } from "./generated/keeps-allowance.ts";
import { reentererAbi, reentererBytecode } from "./generated/reenterer.ts";
import {
  depositAddressAbi,
  depositAddressFactoryAbi,
  depositAddressFactoryBytecode,
  depositoryAbi,
  depositoryBytecode,
  feeOnTransferAbi,
  feeOnTransferBytecode,
  permitTypes,
  refusesApprovalChangeAbi,
  refusesApprovalChangeBytecode,
  returnsFalseAbi,
  returnsFalseBytecode,
  returnsNothingAbi,
  returnsNothingBytecode,
  routerAbi,
  routerBytecode,
  testUsdAbi,
  testUsdBytecode,
  transferErrorsAbi,
} from "./index.ts";

// Addresses that anyone can pay. Their funds can only go to the depository or to the recovery address.

const { user, solver: operator, stranger, owner, allocator, deployer } = accounts;
/** The recovery address. */
const recovery = allocator;
const farFuture = 2n ** 40n;
const otherId: Hex = `0x${"2e".repeat(32)}`;

interface Key {
  readonly id: Hex;
  readonly depositor: Address;
  readonly recovery: Address;
  readonly strict: boolean;
}

let chain: TestChain;
let depository: Address;
let factory: Address;
let payer: Address;
let token: Address;
let turn = 0;

beforeAll(async () => {
  chain = await startTestChain();
  depository = await chain.deploy(depositoryAbi, depositoryBytecode, [owner.address, allocator.address]);
  factory = await chain.deploy(depositAddressFactoryAbi, depositAddressFactoryBytecode, [
    depository,
    owner.address,
    operator.address,
  ]);
  payer = await chain.deploy(frugalPayerAbi, frugalPayerBytecode);
});
beforeEach(async () => {
  turn += 1;
  // Only the user may spend this token.
  token = await deployApprovedToken(chain, user.address, 1_000n);
});
afterAll(async () => await chain.stop());

/** An address that no test used before. */
function key(changes: Partial<Key> = {}): Key {
  return {
    id: keccak256(toHex(`order ${turn}`)),
    depositor: user.address,
    recovery: recovery.address,
    strict: false,
    ...changes,
  };
}

async function addressOf(addressKey: Key): Promise<Address> {
  return await chain.client.readContract({
    address: factory,
    abi: depositAddressFactoryAbi,
    functionName: "addressOf",
    args: [addressKey],
  });
}

function sweep(addressKey: Key, currency: Address, amount: bigint, orderId: Hex = id): Tx {
  const args = [addressKey, currency, amount, orderId] as const;
  return {
    to: factory,
    data: encodeFunctionData({ abi: depositAddressFactoryAbi, functionName: "sweep", args }),
  };
}

function sweepStrict(addressKey: Key, currency: Address): Tx {
  const args = [addressKey, currency] as const;
  return {
    to: factory,
    data: encodeFunctionData({ abi: depositAddressFactoryAbi, functionName: "sweepStrict", args }),
  };
}

function recover(addressKey: Key, currency: Address): Tx {
  const args = [addressKey, currency] as const;
  return {
    to: factory,
    data: encodeFunctionData({ abi: depositAddressFactoryAbi, functionName: "recover", args }),
  };
}

interface Permit {
  readonly deadline: bigint;
  readonly v: number;
  readonly r: Hex;
  readonly s: Hex;
}

/** An invalid permit; a token without permits refuses any. */
const noPermit: Permit = { deadline: 0n, v: 0, r: id, s: id };

function pull(addressKey: Key, usd: Address, amount: bigint, permit: Permit): Tx {
  const args = [addressKey, usd, amount, permit] as const;
  return {
    to: factory,
    data: encodeFunctionData({ abi: depositAddressFactoryAbi, functionName: "pull", args }),
  };
}

function failure(errorName: "OnlyOperator" | "OnlyRecovery" | "NotStrict" | "AddressCannotBeZero"): Hex {
  return encodeErrorResult({ abi: depositAddressFactoryAbi, errorName });
}

function nothingThereError(currency: Address): Hex {
  return encodeErrorResult({ abi: depositAddressAbi, errorName: "NothingThere", args: [currency] });
}

async function payToken(addressKey: Key, amount: bigint, paid: Address = token): Promise<Address> {
  const depositAddress = await addressOf(addressKey);
  await chain.send(user, { to: paid, data: transfer(depositAddress, amount) });
  return depositAddress;
}

async function payNative(addressKey: Key, value: bigint): Promise<Address> {
  const depositAddress = await addressOf(addressKey);
  await chain.send(stranger, { to: depositAddress, value });
  return depositAddress;
}

async function hasCode(depositAddress: Address): Promise<boolean> {
  return (await chain.client.getCode({ address: depositAddress })) !== undefined;
}

test("the address depends only on the factory and the key, and is known before deployment", async () => {
  const addressKey = key();
  const initCodeHash = await chain.client.readContract({
    address: factory,
    abi: depositAddressFactoryAbi,
    functionName: "initCodeHash",
  });
  const tuple = (getAbiItem({ abi: depositAddressFactoryAbi, name: "addressOf" }) as AbiFunction).inputs;
  const salt = keccak256(encodeAbiParameters(tuple, [addressKey]));
  const computed = getContractAddress({ opcode: "CREATE2", from: factory, salt, bytecodeHash: initCodeHash });
  expect(await addressOf(addressKey)).toBe(computed);

  await payNative(addressKey, 5n);
  expect(await hasCode(computed)).toBe(false);
  await chain.send(operator, sweep(addressKey, zeroAddress, 5n));
  expect(await hasCode(computed)).toBe(true);
});

test("any change of the key changes the address", async () => {
  const keys = [
    key(),
    key({ id: otherId }),
    key({ depositor: stranger.address }),
    key({ recovery: stranger.address }),
    key({ strict: true }),
  ];
  const addresses = await Promise.all(keys.map(addressOf));
  expect(new Set(addresses).size).toBe(keys.length);
});

test("deposits native tokens for the depositor with the operator's order id, any number of times", async () => {
  const addressKey = key();
  for (const [value, orderId] of [
    [7n, id],
    [9n, otherId],
  ] as const) {
    const depositAddress = await payNative(addressKey, value);
    const receipt = await chain.send(operator, sweep(addressKey, zeroAddress, value, orderId));
    expect(eventsOf(receipt, depository, depositoryAbi, "NativeDeposit")).toEqual([
      { from: user.address, amount: value, id: orderId },
    ]);
    expect(await chain.nativeBalance(depositAddress)).toBe(0n);
  }
});

test("deposits tokens for the depositor with the operator's order id, any number of times", async () => {
  const addressKey = key();
  for (const [amount, orderId] of [
    [70n, id],
    [90n, otherId],
  ] as const) {
    const depositAddress = await payToken(addressKey, amount);
    const receipt = await chain.send(operator, sweep(addressKey, token, amount, orderId));
    expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
      { from: user.address, token, amount, id: orderId },
    ]);
    expect(await chain.tokenBalance(token, depositAddress)).toBe(0n);
  }
});

test("a deposit without a depositor belongs to the address itself", async () => {
  const addressKey = key({ depositor: zeroAddress });
  const depositAddress = await payToken(addressKey, 70n);
  const receipt = await chain.send(operator, sweep(addressKey, token, 70n));
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: depositAddress, token, amount: 70n, id },
  ]);
});

test.each([0n, 1n])(
  "accepts the smallest payment with 2,300 gas, before and after the clone is deployed (%s)",
  async (created) => {
    const addressKey = key();
    const depositAddress = await addressOf(addressKey);
    if (created === 1n) {
      await payNative(addressKey, 1n);
      await chain.send(operator, sweep(addressKey, zeroAddress, 1n));
    }
    expect(await hasCode(depositAddress)).toBe(created === 1n);
    const pay = encodeFunctionData({ abi: frugalPayerAbi, functionName: "pay", args: [depositAddress] });
    await chain.send(user, { to: payer, data: pay, value: 5n });
    expect(await chain.nativeBalance(depositAddress)).toBe(5n);
  },
);

test("refuses to deposit more than the balance, or nothing", async () => {
  const addressKey = key({ strict: true });
  await payToken(addressKey, 70n);
  await payNative(addressKey, 7n);
  for (const [currency, balance] of [
    [token, 70n],
    [zeroAddress, 7n],
  ] as const) {
    expect(await chain.revertOf(operator, sweep(addressKey, currency, balance + 1n, addressKey.id))).toBe(
      encodeErrorResult({
        abi: depositAddressAbi,
        errorName: "BalanceTooLow",
        args: [currency, balance, balance + 1n],
      }),
    );
    expect(await chain.revertOf(operator, sweep(addressKey, currency, 0n, addressKey.id))).toBe(
      nothingThereError(currency),
    );
  }
  const empty = key({ id: otherId, strict: true });
  expect(await chain.revertOf(stranger, sweepStrict(empty, token))).toBe(nothingThereError(token));
  expect(await chain.revertOf(stranger, sweepStrict(empty, zeroAddress))).toBe(
    nothingThereError(zeroAddress),
  );
});

function sweepMany(sweeps: readonly { key: Key; currency: Address; amount: bigint; orderId: Hex }[]): Tx {
  return {
    to: factory,
    data: encodeFunctionData({ abi: depositAddressFactoryAbi, functionName: "sweepMany", args: [sweeps] }),
  };
}

test.each([
  ["strict address becomes two deposits for its own order", true],
  ["open address becomes deposits for the orders that the operator names", false],
])("in one transaction, the balance of an overpaid %s", async (_, strict) => {
  const addressKey = key({ strict });
  const excessOf = strict ? addressKey.id : otherId;
  const depositAddress = await payToken(addressKey, 100n);
  const sweeps = [
    { key: addressKey, currency: token, amount: 70n, orderId: addressKey.id },
    { key: addressKey, currency: token, amount: 30n, orderId: excessOf },
  ];
  const receipt = await chain.send(operator, sweepMany(sweeps));
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: user.address, token, amount: 70n, id: addressKey.id },
    { from: user.address, token, amount: 30n, id: excessOf },
  ]);
  expect(await chain.tokenBalance(token, depositAddress)).toBe(0n);
});

test("not even the operator can deposit funds of a strict address with another order id", async () => {
  const addressKey = key({ strict: true });
  const depositAddress = await payToken(addressKey, 100n);
  await payNative(addressKey, 7n);
  const ownSweep = { key: addressKey, currency: token, amount: 70n, orderId: addressKey.id };
  const refused = encodeErrorResult({
    abi: depositAddressFactoryAbi,
    errorName: "NotOrderOfKey",
    args: [otherId, addressKey.id],
  });
  for (const tx of [
    sweep(addressKey, token, 100n, otherId),
    sweep(addressKey, zeroAddress, 7n, otherId),
    sweepMany([ownSweep, { ...ownSweep, amount: 30n, orderId: otherId }]),
  ])
    expect(await chain.revertOf(operator, tx)).toBe(refused);
  expect(await chain.tokenBalance(token, depositAddress)).toBe(100n);
  expect(await chain.nativeBalance(depositAddress)).toBe(7n);
});

test("sweepMany deposits nothing if one of its sweeps fails", async () => {
  const addressKey = key();
  const depositAddress = await payToken(addressKey, 100n);
  const data = sweepMany([
    { key: addressKey, currency: token, amount: 70n, orderId: id },
    { key: addressKey, currency: token, amount: 31n, orderId: otherId },
  ]);
  await expect(chain.readCall(operator, data)).rejects.toThrow();
  expect((await chain.mine(operator, data)).status).toBe("reverted");
  expect(await chain.tokenBalance(token, depositAddress)).toBe(100n);
});

test("only the operator can assign an amount to an order", async () => {
  const addressKey = key({ strict: true });
  await payToken(addressKey, 70n);
  const many = sweepMany([{ key: addressKey, currency: token, amount: 70n, orderId: id }]);
  for (const tx of [sweep(addressKey, token, 70n), many]) {
    for (const sender of [stranger, user, owner, recovery]) {
      expect(await chain.revertOf(sender, tx)).toBe(failure("OnlyOperator"));
    }
  }
});

test("anyone can deposit the whole balance of a strict address with its own order id", async () => {
  const addressKey = key({ strict: true });
  await payToken(addressKey, 70n);
  await payNative(addressKey, 7n);
  const tokens = await chain.send(stranger, sweepStrict(addressKey, token));
  expect(eventsOf(tokens, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: user.address, token, amount: 70n, id: addressKey.id },
  ]);
  const native = await chain.send(stranger, sweepStrict(addressKey, zeroAddress));
  expect(eventsOf(native, depository, depositoryAbi, "NativeDeposit")).toEqual([
    { from: user.address, amount: 7n, id: addressKey.id },
  ]);
});

test("only the operator can deposit funds of an open address, because only it knows the order", async () => {
  const addressKey = key();
  await payToken(addressKey, 70n);
  expect(await chain.revertOf(stranger, sweepStrict(addressKey, token))).toBe(failure("NotStrict"));
  // With `strict` the key has another address, which is empty.
  expect(await chain.revertOf(stranger, sweepStrict({ ...addressKey, strict: true }, token))).toBe(
    nothingThereError(token),
  );
});

test("only the recovery address can withdraw everything, before and after the clone is deployed", async () => {
  const addressKey = key();
  const depositAddress = await payToken(addressKey, 70n);
  await payNative(addressKey, 7n);
  for (const sender of [stranger, user, operator, owner]) {
    expect(await chain.revertOf(sender, recover(addressKey, token))).toBe(failure("OnlyRecovery"));
  }
  const receipt = await chain.send(recovery, recover(addressKey, token));
  expect(eventsOf(receipt, factory, depositAddressFactoryAbi, "Recovered")).toEqual([
    { depositAddress, currency: token, amount: 70n },
  ]);
  expect(await chain.tokenBalance(token, recovery.address)).toBe(70n);

  const before = await chain.nativeBalance(recovery.address);
  const native = await chain.send(recovery, recover(addressKey, zeroAddress));
  const fee = native.gasUsed * native.effectiveGasPrice;
  expect((await chain.nativeBalance(recovery.address)) - before + fee).toBe(7n);
  expect(await chain.revertOf(recovery, recover(addressKey, token))).toBe(nothingThereError(token));
});

test("a caller that names itself in the key gets another address", async () => {
  const addressKey = key();
  await payToken(addressKey, 70n);
  expect(await chain.revertOf(stranger, recover({ ...addressKey, recovery: stranger.address }, token))).toBe(
    nothingThereError(token),
  );
});

test("no account can withdraw without a recovery address", async () => {
  const addressKey = key({ recovery: zeroAddress });
  await payToken(addressKey, 70n);
  expect(await chain.revertOf(stranger, recover(addressKey, token))).toBe(failure("OnlyRecovery"));
});

test("the clone and its implementation accept calls only from the factory", async () => {
  const addressKey = key();
  const clone = await payToken(addressKey, 70n);
  await chain.send(operator, sweep(addressKey, token, 1n));
  const implementation = await chain.client.readContract({
    address: factory,
    abi: depositAddressFactoryAbi,
    functionName: "implementation",
  });
  const calls: readonly Hex[] = [
    encodeFunctionData({
      abi: depositAddressAbi,
      functionName: "deposit",
      args: [stranger.address, token, 1n, id],
    }),
    encodeFunctionData({ abi: depositAddressAbi, functionName: "pull", args: [user.address, token, 1n, id] }),
    encodeFunctionData({ abi: depositAddressAbi, functionName: "withdraw", args: [token, stranger.address] }),
  ];
  for (const to of [clone, implementation]) {
    for (const data of calls) {
      for (const sender of [stranger, operator, owner, recovery, user]) {
        expect(await chain.revertOf(sender, { to, data })).toBe(
          encodeErrorResult({ abi: depositAddressAbi, errorName: "OnlyFactory" }),
        );
      }
    }
  }
});

test("only the owner can change the operator, and existing addresses accept the new one", async () => {
  const rotated = await chain.deploy(depositAddressFactoryAbi, depositAddressFactoryBytecode, [
    depository,
    owner.address,
    operator.address,
  ]);
  const set = (to: Address): Tx => ({
    to: rotated,
    data: encodeFunctionData({ abi: depositAddressFactoryAbi, functionName: "setOperator", args: [to] }),
  });
  const unauthorized = encodeErrorResult({ abi: depositAddressFactoryAbi, errorName: "Unauthorized" });
  expect(await chain.revertOf(operator, set(stranger.address))).toBe(unauthorized);
  expect(await chain.revertOf(owner, set(zeroAddress))).toBe(failure("AddressCannotBeZero"));
  const receipt = await chain.send(owner, set(stranger.address));
  expect(eventsOf(receipt, rotated, depositAddressFactoryAbi, "OperatorChanged")).toEqual([
    { previousOperator: operator.address, newOperator: stranger.address },
  ]);

  const addressKey = key();
  const depositAddress = await chain.client.readContract({
    address: rotated,
    abi: depositAddressFactoryAbi,
    functionName: "addressOf",
    args: [addressKey],
  });
  await chain.send(user, { to: token, data: transfer(depositAddress, 70n) });
  const tx = { ...sweep(addressKey, token, 70n), to: rotated };
  expect(await chain.revertOf(operator, tx)).toBe(failure("OnlyOperator"));
  await chain.send(stranger, tx);
  expect(await chain.tokenBalance(token, depository)).toBe(70n);
});

test("refuses the zero address as depository, owner or operator", async () => {
  for (const missing of [0, 1, 2]) {
    const args = [depository, owner.address, operator.address].map((address, index) =>
      index === missing ? zeroAddress : address,
    );
    expect(await chain.deployRevertOf(depositAddressFactoryAbi, depositAddressFactoryBytecode, args)).toBe(
      failure("AddressCannotBeZero"),
    );
  }
});

async function deployHostile(
  kind: { readonly abi: Abi; readonly bytecode: Hex },
  to: Address,
): Promise<Address> {
  const odd = await chain.deploy(kind.abi, kind.bytecode);
  await chain.send(deployer, { to: odd, data: mint(to, 300n) });
  return odd;
}

test.each([
  ["returns nothing", { abi: returnsNothingAbi, bytecode: returnsNothingBytecode }, 300n],
  [
    "refuses another allowance",
    { abi: refusesApprovalChangeAbi, bytecode: refusesApprovalChangeBytecode },
    300n,
  ],
  ["charges one percent", { abi: feeOnTransferAbi, bytecode: feeOnTransferBytecode }, 297n],
] as const)(
  "a token that %s is deposited, and the event has the amount that arrived",
  async (_, kind, arrives) => {
    const addressKey = key({ strict: true });
    const odd = await deployHostile(kind, await addressOf(addressKey));
    const receipt = await chain.send(stranger, sweepStrict(addressKey, odd));
    expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
      { from: user.address, token: odd, amount: arrives, id: addressKey.id },
    ]);
  },
);

test("deposits a token whose allowances remain any number of times", async () => {
  const addressKey = key({ strict: true });
  const depositAddress = await addressOf(addressKey);
  const keeping = await deployHostile(
    { abi: keepsAllowanceAbi, bytecode: keepsAllowanceBytecode },
    depositAddress,
  );
  await chain.send(stranger, sweepStrict(addressKey, keeping));
  await chain.send(deployer, { to: keeping, data: mint(depositAddress, 200n) });
  await chain.send(stranger, sweepStrict(addressKey, keeping));
  expect(await chain.tokenBalance(keeping, depository)).toBe(500n);
});

test("neither deposits nor recovers a token that returns false", async () => {
  const addressKey = key({ strict: true });
  const lying = await deployHostile(
    { abi: returnsFalseAbi, bytecode: returnsFalseBytecode },
    await addressOf(addressKey),
  );
  expect(await chain.revertOf(stranger, sweepStrict(addressKey, lying))).toBe(
    encodeErrorResult({ abi: transferErrorsAbi, errorName: "TransferFromFailed" }),
  );
  expect(await chain.revertOf(recovery, recover(addressKey, lying))).toBe(
    encodeErrorResult({ abi: transferErrorsAbi, errorName: "TransferFailed" }),
  );
});

test("a token that reenters the factory during a deposit moves nothing else", async () => {
  const addressKey = key({ strict: true });
  const depositAddress = await payNative(addressKey, 7n);
  const hostileToken = await deployHostile(
    { abi: callbackTokenAbi, bytecode: callbackTokenBytecode },
    depositAddress,
  );
  const { data = "0x" } = sweepStrict(addressKey, zeroAddress);
  const arm = encodeFunctionData({ abi: callbackTokenAbi, functionName: "arm", args: [factory, data] });
  await chain.send(user, { to: hostileToken, data: arm });
  await chain.send(stranger, sweepStrict(addressKey, hostileToken));
  const answer = await chain.client.readContract({
    address: hostileToken,
    abi: callbackTokenAbi,
    functionName: "answer",
  });
  expect(answer).toBe(reenteredError);
  expect(await chain.nativeBalance(depositAddress)).toBe(7n);
});

test("a token that reenters the factory during a pull moves nothing else", async () => {
  const addressKey = key({ strict: true });
  const depositAddress = await payNative(addressKey, 7n);
  const hostileToken = await deployHostile(
    { abi: callbackTokenAbi, bytecode: callbackTokenBytecode },
    user.address,
  );
  await chain.send(user, { to: hostileToken, data: approve(depositAddress, 300n) });
  const { data = "0x" } = sweepStrict(addressKey, zeroAddress);
  const arm = encodeFunctionData({ abi: callbackTokenAbi, functionName: "arm", args: [factory, data] });
  await chain.send(user, { to: hostileToken, data: arm });
  await chain.send(stranger, pull(addressKey, hostileToken, 300n, noPermit));
  const answer = await chain.client.readContract({
    address: hostileToken,
    abi: callbackTokenAbi,
    functionName: "answer",
  });
  expect(answer).toBe(reenteredError);
  expect(await chain.nativeBalance(depositAddress)).toBe(7n);
  expect(await chain.tokenBalance(hostileToken, depository)).toBe(300n);
});

test("a recovery address that reenters the factory during its payment moves nothing else", async () => {
  const greedy = await chain.deploy(reentererAbi, reentererBytecode);
  const addressKey = key({ recovery: greedy });
  const depositAddress = await payNative(addressKey, 7n);
  await payToken(addressKey, 70n);
  const { data = "0x" } = recover(addressKey, token);
  const arm = encodeFunctionData({ abi: reentererAbi, functionName: "arm", args: [factory, data, 0n] });
  await chain.send(user, { to: greedy, data: arm });
  await chain.client.setBalance({ address: greedy, value: parseEther("1") });
  await chain.client.impersonateAccount({ address: greedy });
  const tx = { ...recover(addressKey, zeroAddress), account: greedy, chain: null, gas: 1_000_000n };
  expect((await chain.client.sendTransactionSync(tx)).status).toBe("success");
  expect(await chain.nativeBalance(depositAddress)).toBe(0n);
  expect(await chain.tokenBalance(token, depositAddress)).toBe(70n);
  expect(
    await chain.client.readContract({ address: greedy, abi: reentererAbi, functionName: "answer" }),
  ).toBe(reenteredError);
});

test("refuses native tokens with calldata once the clone is deployed", async () => {
  const addressKey = key();
  const depositAddress = await payNative(addressKey, 7n);
  await chain.send(operator, sweep(addressKey, zeroAddress, 7n));
  expect(await chain.revertOf(user, { to: depositAddress, data: id, value: 1n })).toBe("0x");
});

interface SignedPermit {
  readonly usd: Address;
  readonly addressKey: Key;
  readonly depositAddress: Address;
  readonly permit: Permit;
}

/** The user's permit of `amount` to the strict address of an order. */
async function signedPermit(amount: bigint, deadline = farFuture): Promise<SignedPermit> {
  const usd = await chain.deploy(testUsdAbi, testUsdBytecode, ["Test USD", "USD"]);
  await chain.send(deployer, { to: usd, data: mint(user.address, 1_000n) });
  const addressKey = key({ strict: true });
  const depositAddress = await addressOf(addressKey);
  const signature = await user.signTypedData({
    domain: { name: "Test USD", version: "1", chainId, verifyingContract: usd },
    types: permitTypes,
    primaryType: "Permit",
    message: { owner: user.address, spender: depositAddress, value: amount, nonce: 0n, deadline },
  });
  const { r, s, yParity } = parseSignature(signature);
  return { usd, addressKey, depositAddress, permit: { deadline, v: 27 + yParity, r, s } };
}

function submitPermit(
  { usd, depositAddress, permit: { deadline, v, r, s } }: SignedPermit,
  amount: bigint,
): Tx {
  const args = [user.address, depositAddress, amount, deadline, v, r, s] as const;
  return { to: usd, data: encodeFunctionData({ abi: testUsdAbi, functionName: "permit", args }) };
}

function allowanceDiffers(allowance: bigint, amount: bigint): Hex {
  return encodeErrorResult({
    abi: depositAddressFactoryAbi,
    errorName: "AllowanceIsNotAmount",
    args: [allowance, amount],
  });
}

test("anyone can use a permit to deposit the depositor's tokens, but only with the order id", async () => {
  const { usd, addressKey, depositAddress, permit } = await signedPermit(300n);
  const receipt = await chain.send(stranger, pull(addressKey, usd, 300n, permit));
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: user.address, token: usd, amount: 300n, id: addressKey.id },
  ]);
  expect(await chain.tokenBalance(usd, user.address)).toBe(700n);
  expect(await chain.tokenBalance(usd, depositAddress)).toBe(0n);
  expect(await chain.revertOf(stranger, pull(addressKey, usd, 300n, permit))).toBe(
    allowanceDiffers(0n, 300n),
  );
});

test("a permit that was already submitted does not prevent the deposit", async () => {
  const signed = await signedPermit(300n);
  await chain.send(stranger, submitPermit(signed, 300n));
  await chain.send(operator, pull(signed.addressKey, signed.usd, 300n, signed.permit));
  expect(await chain.tokenBalance(signed.usd, depository)).toBe(300n);
});

test("a front-runner with the permit cannot deposit only a part of the signed amount", async () => {
  const signed = await signedPermit(300n);
  await chain.send(stranger, submitPermit(signed, 300n));
  expect(await chain.revertOf(stranger, pull(signed.addressKey, signed.usd, 1n, signed.permit))).toBe(
    allowanceDiffers(300n, 1n),
  );
});

test("refuses a permit for another address, amount or deadline, or with an invalid signature", async () => {
  const { usd, addressKey, permit } = await signedPermit(300n);
  const other = { ...addressKey, id: otherId };
  expect(await chain.revertOf(stranger, pull(other, usd, 300n, permit))).toBe(allowanceDiffers(0n, 300n));
  expect(await chain.revertOf(stranger, pull(addressKey, usd, 301n, permit))).toBe(
    allowanceDiffers(0n, 301n),
  );
  const later = { ...permit, deadline: permit.deadline + 1n };
  expect(await chain.revertOf(stranger, pull(addressKey, usd, 300n, later))).toBe(allowanceDiffers(0n, 300n));
  expect(
    await chain.revertOf(stranger, pull({ ...addressKey, depositor: zeroAddress }, usd, 300n, permit)),
  ).toBe(allowanceDiffers(0n, 300n));
  const late = await signedPermit(300n, 1n);
  expect(await chain.revertOf(stranger, pull(late.addressKey, late.usd, 300n, late.permit))).toBe(
    allowanceDiffers(0n, 300n),
  );
});

test("a pull does not deposit the address's existing balance", async () => {
  const { usd, addressKey, depositAddress, permit } = await signedPermit(300n);
  await chain.send(deployer, { to: usd, data: mint(depositAddress, 5n) });
  const receipt = await chain.send(stranger, pull(addressKey, usd, 300n, permit));
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: user.address, token: usd, amount: 300n, id: addressKey.id },
  ]);
  expect(await chain.tokenBalance(usd, depositAddress)).toBe(5n);
});

test("pulls an approved token without permit support, and deposits the received amount", async () => {
  const addressKey = key({ strict: true });
  const depositAddress = await addressOf(addressKey);
  const charging = await chain.deploy(feeOnTransferAbi, feeOnTransferBytecode);
  await chain.send(deployer, { to: charging, data: mint(user.address, 10_000n) });
  await chain.send(user, { to: charging, data: approve(depositAddress, 10_000n) });
  const receipt = await chain.send(stranger, pull(addressKey, charging, 10_000n, noPermit));
  // One percent of 10,000 on the way to the address, one of 9,900 on the way to the depository.
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: user.address, token: charging, amount: 9_801n, id: addressKey.id },
  ]);
});

test("refuses to pull to an open address", async () => {
  const { usd, addressKey, permit } = await signedPermit(300n);
  expect(await chain.revertOf(operator, pull({ ...addressKey, strict: false }, usd, 300n, permit))).toBe(
    failure("NotStrict"),
  );
});

test("the router can pay a deposit address within its gas limit for payments", async () => {
  const router = await chain.deploy(routerAbi, routerBytecode);
  const depositAddress = await payNative(key(), 7n);
  await chain.send(operator, sweep(key(), zeroAddress, 7n));
  await chain.send(user, { to: router, data: nativeTransfer(depositAddress, 5n), value: 5n });
  expect(await chain.nativeBalance(depositAddress)).toBe(5n);
});
