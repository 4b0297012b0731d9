import { createHash } from "node:crypto";
import { associatedTokenAddress, depositoryAccounts } from "@causeway/chains/solana";
import { bytesOf, toHex, type Hex, type Hex32 } from "@causeway/domain";
import type { SolanaTransferRequest } from "@causeway/families/solana";
import {
  askNode,
  createDepository,
  createTokenAccountInstruction,
  mintTo,
  sendInstructions,
  solanaKey,
  startSolana,
  type PlainInstruction,
} from "@causeway/simulators/solana";
import { addressBytes, lookupTable } from "../../support/solana-lookup-table.ts";
import { startSolanaFront, type SolanaFront } from "../../support/solana-front.ts";
import {
  failingInstruction,
  forwardInstruction,
  lamportTransfer,
  memo,
  NATIVE,
  payloadOf,
  startSolanaWorld,
  tokenTransfer,
} from "../../support/solana-world.ts";
import type {
  FamilyWorld,
  ExpectedDeposits,
  SignedWithdrawal,
  NoDeposit,
  NotApplicable,
  PaymentPlan,
  WithdrawalPlan,
} from "../../contracts/family-world.ts";

const AMOUNT = 5_000_000n;
const ZERO_ID: Hex32 = `0x${"00".repeat(32)}`;

/** The Solana family: a cluster with the real virtual machine behind the API of a node. */
export async function startSolanaFamily(): Promise<FamilyWorld> {
  const world = await startSolanaWorld();
  const { node, depository: at, user, solver, recipients, token, feeToken, forwarder } = world;
  const [firstRecipient] = recipients;
  const resources: { close(): Promise<void> }[] = [];
  const openFront = async (options: Parameters<typeof startSolanaFront>[1]): Promise<SolanaFront> => {
    const solanaFront = await startSolanaFront(node.url, options);
    resources.push(solanaFront);
    return solanaFront;
  };
  // Withdrawals are paid from these deposits.
  for (const currency of [NATIVE, token.mint])
    await world.send(user, [await world.deposit({ id: ZERO_ID, amount: 10n ** 11n, currency })]);
  const otherDepository = await createDepository(node, {
    owner: await solanaKey(),
    allocator: await solanaKey(),
    program: (await solanaKey()).address,
  });
  node.controls.finalize();

  const depositResult = (
    transactionId: string,
    deposit: Partial<ExpectedDeposits["deposits"][number]>,
  ): ExpectedDeposits => ({
    transactionId,
    deposits: [
      {
        index: "0",
        depositor: user.address,
        currency: token.mint,
        amount: AMOUNT,
        depositId: undefined,
        ...deposit,
      },
    ],
  });
  const depositInstruction = async (id: Hex32, fields: Partial<Parameters<typeof world.deposit>[0]> = {}) =>
    await world.deposit({ id, amount: AMOUNT, currency: token.mint, ...fields });

  const paymentInstructions = async (
    plan: Pick<PaymentPlan, "payments">,
  ): Promise<readonly PlainInstruction[]> => {
    const instructions: PlainInstruction[] = [];
    for (const { recipient, currency, amount } of plan.payments)
      instructions.push(...(await world.transfer(solver, recipient, currency, amount)));
    return instructions;
  };
  const pay = async (plan: PaymentPlan): Promise<string> =>
    await world.send(solver, [...(await paymentInstructions(plan)), memo(plan.orderId)]);
  /** URLs of nodes that report no time for transactions. */
  const urlsWithoutTime = async (): Promise<readonly string[]> => {
    const { url } = await openFront({
      result: ({ method }, honest) => {
        if (method === "getBlockTime") return "error";
        if (method !== "getTransaction" || honest === null) return honest;
        const { blockTime: _, ...rest } = honest as Record<string, unknown>;
        return rest;
      },
    });
    return [url];
  };
  const withdrawalOf = (request: SolanaTransferRequest): SignedWithdrawal => {
    const payload = payloadOf(request);
    return {
      payload,
      withdrawalId: `0x${createHash("sha256").update(bytesOf(payload)).digest("hex")}`,
      execute: async () =>
        // Without the memo, two executions of one request in the same slot would be one transaction.
        await world.send(solver, [...(await world.execution(request)), memo(`try ${node.controls.slot()}`)]),
      expire: async () => {
        node.controls.passSeconds(Number(request.expiration) - node.controls.time() + 1);
      },
    };
  };
  const requestOf = (plan: WithdrawalPlan): SolanaTransferRequest =>
    world.request({
      recipient: plan.recipient,
      token: plan.currency,
      amount: plan.amount,
      nonce: BigInt(plan.address) % 2n ** 64n,
    });

  return {
    family: "solana-vm",
    urls: [node.url],
    chainAt: (urls) => world.chain(urls),
    recipients: [firstRecipient.address, recipients[1].address],
    currency: token.mint,
    otherCurrency: NATIVE,
    amount: AMOUNT,
    extraData: "0x",
    foreignAddress: `0x${"12".repeat(20)}`,
    otherFormats: (id) => [
      toHex(decode58(id)),
      `1${id}`,
      id.slice(0, -1),
      id.toUpperCase(),
      Buffer.from(decode58(id)).toString("base64"),
    ],
    omissibleFields: [],
    deposit: async ({ depositId, currency, amount }) =>
      depositResult(
        await world.send(user, [await depositInstruction(depositId ?? ZERO_ID, { currency, amount })]),
        {
          depositId,
          currency,
          amount,
        },
      ),
    pay,
    withdrawal: async (plan) => withdrawalOf(requestOf(plan)),
    finalize: async () => node.controls.finalize(),

    deposits: {
      twoInOne: async ([firstId, secondId]) => {
        const second = await depositInstruction(secondId, { currency: NATIVE });
        const transactionId = await world.send(user, [
          await depositInstruction(firstId),
          memo("between"),
          second,
        ]);
        const [deposit] = depositResult("", { depositId: firstId }).deposits;
        if (deposit === undefined) throw new Error("unreachable");
        return {
          transactionId,
          deposits: [deposit, { ...deposit, index: "2", currency: NATIVE, depositId: secondId }],
        };
      },
      none: async () =>
        empty(await world.send(solver, [lamportTransfer(solver.address, firstRecipient.address, 1n)])),
      orphaned: async (id) => {
        const slot = node.controls.slot();
        const transactionId = await world.send(user, [await depositInstruction(id)]);
        node.controls.dropFrom(slot);
        return { transactionId, as: "not_found" };
      },
      splitNode: async (id) => {
        const { url } = await openFront({
          // The node answers with its newest state, regardless of the requested commitment.
          question: ({ method, params }) =>
            method === "getTransaction"
              ? { method, params: [params[0], { ...(params[1] as object), commitment: "confirmed" }] }
              : { method, params },
        });
        return {
          transactionId: await world.send(user, [await depositInstruction(id)]),
          urls: [url],
          as: "not_final",
        };
      },
      failed: async (id) => ({
        transactionId: await world.send(user, [await depositInstruction(id), failingInstruction(user)], {
          skipPreflight: true,
        }),
        as: "rejected",
      }),
      lookAlike: async (id) =>
        empty(await world.send(user, [await depositInstruction(id, { into: otherDepository })])),
      lyingToken: not("the two token programs keep tokens, and the depository accepts no others"),
      feeOnTransfer: async (id) =>
        depositResult(await world.send(user, [await depositInstruction(id, { currency: feeToken.mint })]), {
          currency: feeToken.mint,
          amount: AMOUNT - AMOUNT / 100n,
          depositId: id,
        }),
      withoutTransfer: async (id) =>
        // Another program logs a deposit in the same format, and lamports arrive in the real vault.
        empty(
          await world.send(user, [
            await depositInstruction(id, { into: otherDepository, currency: NATIVE }),
            lamportTransfer(user.address, at.vault, AMOUNT),
          ]),
        ),
      reportedTwice: not("each call logs exactly what it moves"),
      throughForwarder: async (id) => {
        const call = await depositInstruction(id, { depositor: firstRecipient.address });
        const transactionId = await world.send(user, [forwardInstruction(forwarder, call)]);
        // The only top-level instruction of the transaction is the forwarder's.
        return depositResult(transactionId, { index: "1", depositor: firstRecipient.address, depositId: id });
      },
      idElsewhere: async (id) =>
        depositResult(await world.send(user, [memo(id), await depositInstruction(ZERO_ID)]), { index: "1" }),
      invalidIds: async () => [
        depositResult(await world.send(user, [await depositInstruction(ZERO_ID)]), {}),
      ],
      withoutDeposit: async () => {
        const [, transfer] = await world.transfer(user, at.vault, token.mint, AMOUNT);
        return depositResult(await world.send(user, [computePrice(), ...(transfer ? [transfer] : [])]), {});
      },
      plainWithId: async (id) =>
        empty(await world.send(user, [lamportTransfer(user.address, at.vault, AMOUNT), memo(id)])),
      ownTransfer: async () => {
        const requestToVault = world.request({ recipient: at.vault });
        const transactionId = await world.send(solver, await world.execution(requestToVault), {
          skipPreflight: true,
        });
        return { transactionId, as: "rejected" };
      },
      otherNetwork: async (id): Promise<NoDeposit> => {
        const otherCluster = await startSolana({ slotMs: 0, finalityLag: 1, genesisHash: "E".repeat(43) });
        resources.push(otherCluster);
        await askNode(otherCluster.url, "requestAirdrop", [user.address, 10_000_000_000]);
        const twinDepository = await createDepository(otherCluster, {
          owner: at.owner,
          allocator: at.allocator,
        });
        const transactionId = await sendInstructions(
          otherCluster.url,
          [user],
          [await world.deposit({ id, amount: AMOUNT, into: twinDepository })],
        );
        otherCluster.controls.finalize();
        return { transactionId, urls: [otherCluster.url], as: "upstream_unavailable" };
      },
      withoutTime: async (id) => ({
        transactionId: await world.send(user, [await depositInstruction(id)]),
        urls: await urlsWithoutTime(),
        as: "upstream_unavailable",
      }),
    },

    payments: {
      failed: async (plan) =>
        await world.send(
          solver,
          [...(await paymentInstructions(plan)), memo(plan.orderId), failingInstruction(solver)],
          {
            skipPreflight: true,
          },
        ),
      innerReverted: not("an inner failure reverts its whole transaction"),
      forTwoOrders: async ([firstId, secondId], payment) =>
        await world.send(solver, [
          ...(await paymentInstructions({ payments: [payment] })),
          memo(firstId),
          memo(secondId),
        ]),
      returnedByRecipient: async (plan) =>
        await world.send(
          [solver, firstRecipient],
          [
            ...(await paymentInstructions(plan)),
            ...(await world.transfer(firstRecipient, solver.address, token.mint, AMOUNT)),
            memo(plan.orderId),
          ],
        ),
      reportedByStranger: not("payments are proven by balances, not by events"),
      strangersExtraData: "0x",
      calls: not("programs are called by instructions, which an order of this family cannot contain"),
      withoutTime: async (plan) => ({ transactionId: await pay(plan), urls: await urlsWithoutTime() }),
      idElsewhere: async ({ orderId, payments: planned }) =>
        await world.send(solver, [
          ...(await paymentInstructions({ payments: planned })),
          memo(`0x${"77".repeat(32)} instead of ${orderId}`),
        ]),
    },

    withdrawals: {
      failedInside: async (plan) => {
        const request = requestOf(plan);
        await world.send(solver, [...(await world.execution(request)), failingInstruction(solver)], {
          skipPreflight: true,
        });
        return withdrawalOf(request);
      },
      otherOutputs: not("the depository pays exactly what the request contains, or nothing"),
      expiryNotFinal: async (plan) => {
        const request = requestOf(plan);
        node.controls.finalize();
        node.controls.passSeconds(Number(request.expiration) - node.controls.time() + 1);
        return withdrawalOf(request);
      },
      malformed: async (plan) => {
        const request = requestOf(plan);
        const payload = payloadOf(request);
        return [
          payload.slice(0, -2) as Hex,
          `${payload}00`,
          "0x",
          // "Some token" with the native token as the token: a second encoding of a native payment.
          toHex(
            Buffer.concat([
              bytesOf(payloadOf({ ...request, token: NATIVE })).subarray(0, 64),
              Buffer.from([1]),
              Buffer.alloc(32),
              bytesOf(payloadOf({ ...request, token: NATIVE })).subarray(65),
            ]),
          ),
          payloadOf({ ...request, vaultAddress: otherDepository.vault }),
          payloadOf({ ...request, recipient: at.vault }),
          payloadOf({ ...request, amount: 0n }),
        ];
      },
    },

    familyCases: {
      "a memo that holds the id and more": async (tools) => {
        const plannedPayments = [{ recipient: firstRecipient.address, currency: token.mint, amount: AMOUNT }];
        const payWithMemos = async (...memos: readonly string[]): Promise<string> => {
          const transactionId = await world.send(solver, [
            ...(await paymentInstructions({ payments: plannedPayments })),
            ...memos.map(memo),
          ]);
          node.controls.finalize();
          return transactionId;
        };
        for (const format of [
          (id: Hex32) => `${id} `,
          (id: Hex32) => id.slice(2),
          (id: Hex32) => `0x${id.slice(2).toUpperCase()}`,
        ])
          await tools.refusesFill(plannedPayments, async (orderId) => await payWithMemos(format(orderId)));
        await tools.refusesFill(
          plannedPayments,
          async (orderId) => await payWithMemos(orderId, `also ${tools.newId()}`),
        );
        await tools.refusesFill(plannedPayments, async (orderId) => await payWithMemos(orderId, orderId));
        // A memo that is not an id is ignored.
        await tools.fills(plannedPayments, async (orderId) => await payWithMemos("thank you", orderId));
      },
      "a deposit by a program with its own vault": async (tools) => {
        const pdas = await depositoryAccounts(otherDepository.program);
        const call = await depositInstruction(tools.newId(), { into: { ...otherDepository, ...pdas } });
        const transactionId = await world.send(user, [forwardInstruction(forwarder, call)]);
        node.controls.finalize();
        await tools.refuses({ transactionId, as: "empty" });
      },
      "accounts from a lookup table": async (tools) => {
        const id = tools.newId();
        const call = await depositInstruction(id);
        const table = (await solanaKey()).address;
        const keys = call.keys.filter(({ isSigner }) => !isSigner).map(({ pubkey }) => pubkey);
        node.controls.setAccount(table, lookupTable(keys));
        node.controls.passSlots(1);
        const transactionId = await world.send(user, [call], { lookupTables: { [table]: keys } });
        node.controls.finalize();
        await tools.attests(depositResult(transactionId, { depositId: id }));
        const { url } = await openFront({
          result: ({ method }, honest) => {
            if (method !== "getTransaction" || honest === null) return honest;
            const { meta, ...rest } = honest as { meta: Record<string, unknown> };
            const { loadedAddresses: _, ...remaining } = meta;
            return { ...rest, meta: remaining };
          },
        });
        await tools.refuses({ transactionId, urls: [url], as: "upstream_unavailable" });
      },
      "a token account that changed its owner": async (tools) => {
        const plannedPayments = [{ recipient: firstRecipient.address, currency: token.mint, amount: AMOUNT }];
        await tools.refusesFill(plannedPayments, async (orderId) => {
          const holder = await solanaKey();
          await askNode(node.url, "requestAirdrop", [holder.address, 1_000_000_000]);
          await mintTo(node.url, token, holder.address, AMOUNT);
          const account = await associatedTokenAddress(holder.address, token.mint, token.tokenProgram);
          const data = Buffer.concat([Buffer.from([6, 2, 1]), addressBytes(firstRecipient.address)]);
          const keys = [
            { pubkey: account, isSigner: false, isWritable: true },
            { pubkey: holder.address, isSigner: true, isWritable: false },
          ];
          const changeOwner = { programId: token.tokenProgram, keys, data };
          const transactionId = await world.send([solver, holder], [changeOwner, memo(orderId)]);
          node.controls.finalize();
          return transactionId;
        });
        // A payment to an account that the same transaction creates counts.
        const fresh = await solanaKey();
        const target = await associatedTokenAddress(fresh.address, token.mint, token.tokenProgram);
        const source = await associatedTokenAddress(solver.address, token.mint, token.tokenProgram);
        const paymentsToFresh = [
          { ...plannedPayments[0], recipient: fresh.address, currency: token.mint, amount: AMOUNT },
        ];
        await tools.fills(paymentsToFresh, async (orderId) => {
          const transactionId = await world.send(solver, [
            createTokenAccountInstruction(solver.address, target, fresh.address, token),
            tokenTransfer(token, source, target, solver.address, AMOUNT),
            memo(orderId),
          ]);
          node.controls.finalize();
          return transactionId;
        });
      },
    },
    close: async () => {
      for (const resource of [world, ...resources]) await resource.close();
    },
  };
}

/** An instruction that sets the compute unit price, which does not change the effect of a transaction. */
function computePrice(): PlainInstruction {
  const data = Buffer.alloc(9);
  data.writeUInt8(3, 0);
  data.writeBigUInt64LE(1n, 1);
  return { programId: "ComputeBudget111111111111111111111111111111", keys: [], data };
}

function decode58(text: string): Uint8Array {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let value = 0n;
  for (const letter of text) value = value * 58n + BigInt(alphabet.indexOf(letter));
  return Buffer.from(value.toString(16).padStart(128, "0"), "hex");
}

const empty = (transactionId: string): NoDeposit => ({ transactionId, as: "empty" });
const not = (notApplicable: string): NotApplicable => ({ notApplicable });
