import type { FamilyWorld } from "../../contracts/family-world.ts";
import type { Address, Hex } from "@causeway/domain";
import { encodeFunctionData, erc20Abi } from "viem";
import { depositoryAbi } from "@causeway/contracts";
import { machineFamily } from "./machine-family.ts";
import { startTronMachine } from "./tron-machine.ts";

/**
 * The Tron family: a node with a real virtual machine behind Tron's own API. A wallet library signs the
 * transactions.
 */
export async function startTronFamily(): Promise<FamilyWorld> {
  const machine = await startTronMachine();
  const { accounts, token, depository } = machine;
  const amount = 1_000n;
  const transfer = (to: Address): Hex =>
    encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
  const native = machine.format(`0x${"00".repeat(20)}`);
  const alice = machine.format(accounts.alice);

  return await machineFamily(machine, {
    foreignAddress: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
    startOther: async (kind) => await startTronMachine(kind === "sameNetwork" ? undefined : 2_494_104_990),
    payNamingTwo: async ([firstId, secondId], call) =>
      await machine.sendWith({ ...call, data: `${call.data}${firstId.slice(2)}` }, { memo: secondId }),
    familyCases: {
      "out of energy": async ({ refuses, refusesFill, newId }) => {
        const deposit = encodeFunctionData({
          abi: depositoryAbi,
          functionName: "depositNative",
          args: [accounts.user, newId()],
        });
        const starved = { feeLimit: 420n * 2_000n };
        const transactionId = await machine.sendWith(
          { to: depository, data: deposit, value: amount },
          starved,
        );
        await machine.finalize();
        await refuses({ transactionId, as: "rejected" });
        await machine.mint(token, accounts.solver, amount);
        await refusesFill(
          [{ recipient: alice, currency: machine.format(token), amount }],
          async (orderId) => {
            const id = await machine.sendWith(
              { to: token, data: transfer(accounts.alice) },
              { ...starved, memo: orderId },
            );
            await machine.finalize();
            return id;
          },
        );
      },
      "the id in the memo of a payment to another recipient": async ({ fills, refusesFill }) => {
        const plan = [{ recipient: alice, currency: native, amount }];
        await refusesFill(plan, async (orderId) => {
          const id = await machine.transfer(`0x${"b0".repeat(20)}`, amount, orderId);
          await machine.finalize();
          return id;
        });
        // A payment to Alice counts if the memo is exactly the id, and does not count if the id is only a
        // part of the memo.
        await fills(plan, async (orderId) => {
          const id = await machine.transfer(accounts.alice, amount, orderId);
          await machine.finalize();
          return id;
        });
        await refusesFill(plan, async (orderId) => {
          const id = await machine.transfer(accounts.alice, amount, `${orderId}00`);
          await machine.finalize();
          return id;
        });
      },
      "a block that is not solidified": async ({ refuses, attests, newId }) => {
        const id = newId();
        const data = encodeFunctionData({
          abi: depositoryAbi,
          functionName: "depositNative",
          args: [accounts.user, id],
        });
        await machine.tron.controls.holdSolidification();
        const transactionId = await machine.send("user", { to: depository, data, value: amount });
        await machine.mine(50);
        await refuses({ transactionId, as: "not_final" });
        machine.tron.controls.releaseSolidification();
        await attests({
          transactionId,
          deposits: [
            { index: "0", depositor: machine.format(accounts.user), currency: native, amount, depositId: id },
          ],
        });
      },
    },
  });
}
