import { encodeFunctionData, keccak256, parseSignature, toHex, type Address } from "viem";
import { transfer, zeroAddress } from "./calls.ts";
import { chainId, accounts } from "./chain.ts";
import type { GasBench } from "./gas-bench.ts";
import { depositAddressFactoryAbi, depositAddressFactoryBytecode, permitTypes } from "../src/index.ts";

const { user, solver, owner, allocator } = accounts;

/** Gas of whole transactions that sweep, pull and recover funds of deposit addresses. */
export async function measureDepositAddresses(bench: GasBench) {
  const { chain, depository, amountWei, amountUsd, freshUsd, gasOf } = bench;
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
    const args = [keyOf(n), currency, amount, keyOf(n).id] as const;
    const data = encodeFunctionData({ abi: depositAddressFactoryAbi, functionName: "sweep", args });
    return await gasOf(solver, { to: factory, data });
  };
  const payNative = async (n: number): Promise<void> =>
    void (await chain.send(user, { to: await addressOf(n), value: amountWei }));
  await payNative(1);
  const nativeFirst = await sweep(1, zeroAddress, amountWei);
  await payNative(1);
  const nativeLater = await sweep(1, zeroAddress, amountWei);

  const payUsd = async (n: number): Promise<Address> => {
    const usd = await freshUsd(user.address);
    await chain.send(user, { to: usd, data: transfer(await addressOf(n), amountUsd) });
    return usd;
  };
  const erc20First = await sweep(2, await payUsd(2), amountUsd);
  const erc20Later = await sweep(2, await payUsd(2), amountUsd);

  const overpaidUsd = await payUsd(3);
  const overpaidData = encodeFunctionData({
    abi: depositAddressFactoryAbi,
    functionName: "sweepMany",
    args: [
      [1n, amountUsd - 1n].map((amount) => ({
        key: keyOf(3),
        currency: overpaidUsd,
        amount,
        orderId: keyOf(3).id,
      })),
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
    args: [keyOf(2), await payUsd(2)],
  });
  const recover = await gasOf(allocator, { to: factory, data: recoverData });
  return { nativeFirst, nativeLater, erc20First, erc20Later, overpaid, pull, recover };
}
