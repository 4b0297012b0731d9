import { encodeFunctionData, maxUint256, parseSignature, type Address, type Hex } from "viem";
import {
  approve,
  call,
  depositBalance,
  id,
  payBalance,
  unwrapBalance,
  wrapBalance,
  zeroAddress,
  type Call,
} from "./calls.ts";
import { chainId, accounts } from "./chain.ts";
import type { GasBench } from "./gas-bench.ts";
import { installPermit2 } from "./permit2.ts";
import {
  approvalProxyAbi,
  permit2Address,
  permit2Domain,
  permitBatchWitnessTransferFromTypes,
  receiveWithAuthorizationTypes,
  routerAbi,
  wrappedEtherAbi,
  wrappedEtherBytecode,
} from "../src/index.ts";

const { user, solver } = accounts;

/** Gas of whole transactions of the routes that the service composes, without swaps. */
export async function measureRoutes(bench: GasBench) {
  const { chain, depository, router, proxy, amountWei, amountUsd, freshUsd, freshRecipient, gasOf } = bench;
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
  const pullAndRoute = async (
    token: Address,
    calls: readonly Call[],
    amount = amountUsd,
  ): Promise<number> => {
    await chain.send(user, { to: token, data: approve(proxy, amount) });
    const args = [token, amount, calls, user.address, []] as const;
    const data = encodeFunctionData({ abi: approvalProxyAbi, functionName: "pullAndRoute", args });
    return await gasOf(user, { to: proxy, data });
  };
  // The depository already holds the native token; each ERC-20 is new to it and to the router.
  const depositNative = await multicall([
    self(depositBalance(depository, user.address, zeroAddress, amountWei)),
  ]);
  const payNative = await multicall([self(payBalance(zeroAddress, freshRecipient(), amountWei))]);
  const wrapAndPay = await multicall([
    self(wrapBalance(wrapped)),
    self(payBalance(wrapped, freshRecipient(), amountWei)),
  ]);
  await chain.send(user, { to: wrapped, value: amountWei * 2n });
  const unwrapAndPay = await pullAndRoute(
    wrapped,
    [self(unwrapBalance(wrapped, amountWei)), self(payBalance(zeroAddress, freshRecipient(), amountWei))],
    amountWei,
  );
  const depositedUsd = await freshUsd(user.address);
  const depositErc20 = await pullAndRoute(depositedUsd, usdDeposit(depositedUsd));
  const paidUsd = await freshUsd(user.address);
  const payErc20 = await pullAndRoute(paidUsd, [self(payBalance(paidUsd, freshRecipient(), amountUsd))]);
  return {
    depositNative,
    payNative,
    wrapAndPay,
    unwrapAndPay,
    depositErc20,
    payErc20,
    permit2: await measurePermit2(bench, usdDeposit),
    authorization: await measureAuthorization(bench, usdDeposit),
  };
}

async function measurePermit2(
  { chain, proxy, amountUsd, freshUsd, gasOf }: GasBench,
  calls: (usd: Address) => readonly Call[],
): Promise<number> {
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

async function measureAuthorization(
  { chain, proxy, amountUsd, freshUsd, gasOf }: GasBench,
  calls: (usd: Address) => readonly Call[],
): Promise<number> {
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
