import {
  encodeHubAction,
  depositoryWithdrawalId,
  hubAlias,
  hubTokenId,
  initiationKey,
  rawKeySigner,
  submitWithdrawRequestDigest,
  withdrawalAddress,
  withdrawalKey,
} from "@causeway/attest";
import { allocatorAbi, depositoryAbi } from "@causeway/contracts";
import type { Address, Hex, Hex32 } from "@causeway/domain";
import { decodeEvmCallRequest, evmCallRequestId } from "@causeway/domain";
import { localAccount } from "@causeway/localnet";
import { randomBytes } from "node:crypto";
import { connectPayouts } from "../../../apps/api/src/settlement/withdrawals/evm-payouts.adapter.ts";
import { createHttpOracle } from "../../../apps/api/src/settlement/http-oracle.adapter.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { withdrawalStore } from "../../../apps/api/src/settlement/withdrawals/withdrawal-store.postgres.ts";
import type {
  Payouts,
  WithdrawalOrder,
} from "../../../apps/api/src/settlement/withdrawals/withdrawals.port.ts";
import {
  withdraw,
  type Progress,
  type WithdrawalServices,
} from "../../../apps/api/src/settlement/withdrawals/withdraw.ts";
import { attestedChain, honest, startFakeOracle, type Behavior, type MoreRoutes } from "./fake-oracle.ts";
import { startSettlementWorld } from "./settlement-world.ts";

type Lie = "fewSignatures" | "anotherAmount" | undefined;

/**
 * The settlement world with an allocator, a depository that holds funds, and chains that mine on their own.
 */
export interface WithdrawalWorld {
  /** Settles a fill. Then the solver has a hub balance and the depository has the funds. */
  earn(): Promise<void>;
  order(change: { amount: bigint }): WithdrawalOrder;
  /** Proceeds as far as possible within `withinMs`. `crash` names the step at which the process crashes. */
  withdraw(
    order: WithdrawalOrder,
    withinMs?: number,
    crash?: { readonly step: string; readonly when: "before" | "after" },
  ): Promise<{ progress: Progress; steps: string[] }>;
  solverOnHub(): Promise<bigint>;
  /** The balance of a withdrawal's address on the hub. */
  reservedOnHub(order: WithdrawalOrder): Promise<bigint>;
  balance(holder: Address): Promise<bigint>;
  /** While it is down, the allocator's transactions to the depository fail before they are sent. */
  setAllocatorDown(isDown: boolean): void;
  passChainTime(seconds: number): Promise<void>;
  forgetPayload(order: WithdrawalOrder): Promise<void>;
  /** How many payloads were signed so far. */
  signedCount(): number;
  setHubMining(mines: boolean): void;
  /** While it is delayed, no new block becomes final on the hub. */
  delayFinality(isDelayed: boolean): void;
  setLie(lie: Lie): void;
  /** Replaces the oracles' answers about the outcome of a payload. */
  setOracleAnswer(behavior: Behavior): void;
  /** Sets the key of the allocator's account. Undefined restores the key that the contracts know. */
  setAllocatorKey(privateKey: Hex | undefined): void;
  /** While it is revoked, the hub's Allocator grants its role to no account. */
  revokeAllocatorRole(isRevoked: boolean): Promise<void>;
  isStored(order: WithdrawalOrder): Promise<boolean>;
  stop(): Promise<void>;
}

export async function startWithdrawalWorld(): Promise<WithdrawalWorld> {
  const world = await startSettlementWorld();
  const { engine, hub } = world;
  const { origin } = engine;
  const chainRef = (name: string) => ({ name, vmType: "ethereum-vm" }) as const;
  const home = engine.services.quotePolicy.solverChainName;
  const ownerAlias = hubAlias(chainRef(home), engine.solver.address);
  const tokenId = hubTokenId(chainRef(origin.chain.name), engine.usdc);
  const addressOf = (order: Pick<WithdrawalOrder, "recipient" | "nonce">): Address =>
    withdrawalAddress(chainRef(origin.chain.name), {
      depository: origin.chain.contracts.depository,
      currency: engine.usdc,
      recipient: order.recipient,
      ownerAlias,
      nonce: order.nonce,
    });
  const allocator = localAccount("allocator");
  for (const client of [world.hubClient, origin.client])
    await client.setBalance({ address: allocator.address, value: 10n ** 20n });

  let lie: Lie;
  let isDown = false;
  let signed = 0;
  let hubMines = true;
  let oracleBehavior: Behavior = honest;
  let isDelayed = false;

  const routes: MoreRoutes = async (path, body, signing) => {
    const fields = body as unknown as {
      expectedAmount: string;
      recipient: Address;
      withdrawalNonce: Hex32;
      withdrawal: Hex;
      withdrawalAddressRequest: { recipient: Address; withdrawalNonce: Hex32 };
    };
    const amount = BigInt(fields.expectedAmount ?? 0) + (lie === "anotherAmount" ? 1n : 0n);
    const echo = { ...body, requestPeerSignatures: undefined, requireThreshold: undefined };
    const spenderOf = (): Address =>
      addressOf({ recipient: fields.recipient, nonce: fields.withdrawalNonce });
    if (path.includes("withdrawal-initiation")) {
      const spender = spenderOf();
      return {
        message: { data: echo, result: { withdrawalAddress: spender } },
        execution: await signing.execution({
          idempotencyKey: initiationKey(hub.name, tokenId, spender),
          actions: [encodeHubAction({ kind: "transfer", from: ownerAlias, to: spender, tokenId, amount })],
        }),
      };
    }
    if (path.includes("withdrawal-initiated")) {
      const spender = spenderOf();
      if ((await world.services.hub.balance(spender, tokenId, "latest")) < amount)
        throw new Error("no balance");
      const params = {
        chainId: BigInt(origin.chain.id),
        depository: origin.chain.contracts.depository,
        currency: engine.usdc,
        amount,
        spender,
        receiver: fields.recipient,
        data: "0x" as const,
        nonce: fields.withdrawalNonce,
      };
      const verifyingContract = hub.allocatorAddress ?? "0x";
      const signatures = await signing.digest(
        submitWithdrawRequestDigest({ chainId: hub.chainId, verifyingContract }, params),
      );
      const { receiver, ...rest } = params;
      return {
        message: {
          data: echo,
          result: { proofOfWithdrawalAddressBalance: "0x", withdrawalAddress: spender },
        },
        payloadParams: {
          ...rest,
          chainId: String(params.chainId),
          amount: String(amount),
          recipient: receiver,
          signatures: signatures.map(({ signer, signature }) => ({
            allocatorSpenderChainId: String(hub.chainId),
            allocatorSpenderContract: verifyingContract,
            oracleSigner: signer,
            signature,
          })),
        },
      };
    }
    if (path.includes("depository-withdrawals")) {
      const request = decodeEvmCallRequest(fields.withdrawal);
      if (request === undefined) throw new Error("no payload");
      const withdrawalId = evmCallRequestId(request);
      const { depository } = origin.chain.contracts;
      const [executed, block] = await Promise.all([
        origin.client.readContract({
          abi: depositoryAbi,
          address: depository,
          functionName: "callRequests",
          args: [withdrawalId],
        }),
        origin.client.getBlock(),
      ]);
      const status = executed ? 1 : block.timestamp > request.expiration ? 2 : 0;
      const data = { chainId: origin.chain.name, withdrawal: fields.withdrawal };
      const result = { withdrawalId, depository, status } as const;
      const message = {
        data: { ...data, withdrawalAddressRequest: fields.withdrawalAddressRequest },
        result,
      };
      if (status === 0) return { message: { ...message, signatures: [] } };
      const { recipient, withdrawalNonce: nonce } = fields.withdrawalAddressRequest;
      const from = addressOf({ recipient, nonce });
      const paid = BigInt(`0x${request.calls[0]?.data.slice(-64) ?? "0"}`);
      const token = { tokenId, amount: paid };
      return {
        message: {
          ...message,
          signatures: await signing.message(depositoryWithdrawalId(() => "ethereum-vm", { data, result })),
        },
        execution: await signing.execution({
          idempotencyKey: withdrawalKey(withdrawalId, executed ? "executed" : "expired"),
          actions: [
            executed
              ? encodeHubAction({ kind: "burn", from, ...token })
              : encodeHubAction({ kind: "transfer", from, to: ownerAlias, ...token }),
          ],
        }),
      };
    }
    return undefined;
  };
  const attestedChains = [origin, engine.destination].map(attestedChain);
  const quorum = await startFakeOracle(attestedChains, hub, world.signers.slice(0, 2), routes);
  const singleSigner = await startFakeOracle(attestedChains, hub, world.signers.slice(0, 1), routes);
  quorum.behave(async (path, body, answer) =>
    path.includes("depository-withdrawals")
      ? await oracleBehavior(path, body, answer)
      : await honest(path, body, answer),
  );

  const payoutsOf = (privateKey: Hex): ReturnType<typeof connectPayouts> =>
    connectPayouts(world.services, world.services.hub, origin.chain, rawKeySigner(privateKey));
  const payouts = payoutsOf(allocator.privateKey);
  let replacedPayouts: typeof payouts | undefined;
  const steeredPayouts: Payouts = {
    ...payouts,
    readAccess: async () => await (replacedPayouts ?? payouts).readAccess(),
    sign: async (request) => {
      signed++;
      return await payouts.sign(request);
    },
    execute: async (request, signature) => {
      if (isDown) throw new Error("the chain's node is unreachable");
      return await payouts.execute(request, signature);
    },
    recordedWithdrawal: async (address, when) =>
      when === "final" && isDelayed ? undefined : await payouts.recordedWithdrawal(address, when),
  };
  const services = (): WithdrawalServices => ({
    ...world.services,
    settlementPolicy: { ...world.services.settlementPolicy, intervalMs: 50 },
    hub: {
      ...world.services.hub,
      balance: async (owner, token, blockTag) =>
        blockTag === "final" && isDelayed ? 0n : await world.services.hub.balance(owner, token, blockTag),
    },
    oracles: [lie === "fewSignatures" ? singleSigner : quorum].map(({ url }) =>
      createHttpOracle({ url, apiKey: undefined }, { timeoutMs: 2_000 }),
    ),
    withdrawals: withdrawalStore(sqlOn(engine.pool)),
    payouts: steeredPayouts,
    solverChainName: home,
    payloadLifetimeSeconds: 3_600,
  });

  let mining: Promise<unknown> = Promise.resolve();
  const miner = setInterval(() => {
    mining = mining.then(async () => {
      await origin.client.mine({ blocks: 1 });
      if (hubMines) await world.hubClient.mine({ blocks: 1 });
    });
  }, 60);

  return {
    async earn() {
      const agreed = await world.makeFilled();
      await world.untilSettled(agreed.requestId);
    },
    order: ({ amount }) => ({
      chainName: origin.chain.name,
      depository: origin.chain.contracts.depository,
      currency: engine.usdc,
      amount,
      recipient: engine.anAddress(),
      nonce: `0x${randomBytes(32).toString("hex")}`,
    }),
    async withdraw(order, withinMs = 20_000, crash) {
      const steps: string[] = [];
      const withdrawalServices = crash === undefined ? services() : crashAt(services(), crash);
      const noteStep = (step: string): void => void steps.push(step);
      const progress = await withdraw(withdrawalServices, order, noteStep, AbortSignal.timeout(withinMs));
      return { progress, steps };
    },
    solverOnHub: () => world.solverOnHub(),
    reservedOnHub: async (order) => await world.services.hub.balance(addressOf(order), tokenId, "latest"),
    balance: async (holder) => await origin.balance(holder, engine.usdc),
    setAllocatorDown(now) {
      isDown = now;
    },
    async passChainTime(seconds) {
      await origin.client.increaseTime({ seconds });
      await origin.client.mine({ blocks: 1 });
    },
    async forgetPayload(order) {
      await engine.pool.query("update hub_withdrawals set payload = null where withdrawal_address = $1", [
        addressOf(order),
      ]);
      // At a later time, the expiration differs, and therefore the payload.
      await origin.client.increaseTime({ seconds: 5 });
      await origin.client.mine({ blocks: 1 });
    },
    signedCount: () => signed,
    setHubMining(now) {
      hubMines = now;
    },
    delayFinality(now) {
      isDelayed = now;
    },
    setLie(now) {
      lie = now;
    },
    setOracleAnswer(behavior) {
      oracleBehavior = behavior;
    },
    setAllocatorKey(privateKey) {
      void replacedPayouts?.close();
      replacedPayouts = privateKey === undefined ? undefined : payoutsOf(privateKey);
    },
    async revokeAllocatorRole(isRevoked) {
      const registry = { address: hub.allocatorAddress ?? "0x", abi: allocatorAbi } as const;
      const account = await world.hubClient.readContract({ ...registry, functionName: "owner" });
      await world.hubClient.impersonateAccount({ address: account });
      await world.hubClient.setBalance({ address: account, value: 10n ** 20n });
      const hash = await world.hubClient.writeContract({
        ...registry,
        account,
        chain: null,
        functionName: isRevoked ? "revokeRoles" : "grantRoles",
        args: [allocator.address, 1n],
      });
      await world.hubClient.waitForTransactionReceipt({ hash });
    },
    async isStored({ nonce }) {
      return (await withdrawalStore(sqlOn(engine.pool)).find(nonce)) !== undefined;
    },
    async stop() {
      clearInterval(miner);
      await mining;
      await replacedPayouts?.close();
      await payouts.close();
      await Promise.all([quorum.close(), singleSigner.close()]);
      await world.stop();
    },
  };
}

/** The services of a process that crashes before or after the first call with this name. */
function crashAt(
  services: WithdrawalServices,
  { step, when }: { readonly step: string; readonly when: "before" | "after" },
): WithdrawalServices {
  let hasCrashed = false;
  const crashingProxy = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(inner, key): unknown {
        const member: unknown = Reflect.get(inner, key);
        if (typeof member !== "function") return member;
        return async (...args: unknown[]): Promise<unknown> => {
          if (hasCrashed || (key === step && when === "before")) {
            hasCrashed = true;
            throw new Error("died");
          }
          const result: unknown = await Reflect.apply(member, inner, args);
          if (key === step) {
            hasCrashed = true;
            throw new Error("died");
          }
          return result;
        };
      },
    });
  const { hub } = services;
  return {
    ...services,
    payouts: crashingProxy(services.payouts),
    withdrawals: crashingProxy(services.withdrawals),
    hub: {
      ...hub,
      // Broadcasts of the hub's lane count as the step `submit`.
      lane: {
        ...hub.lane,
        connection: {
          ...hub.lane.connection,
          writer: { broadcast: crashingProxy({ submit: hub.lane.connection.writer.broadcast }).submit },
        },
      },
    },
    uow: {
      run: async (work) => {
        if (hasCrashed) throw new Error("died");
        return await services.uow.run(
          async (tx) => await work({ ...tx, settlement: crashingProxy(tx.settlement) }),
        );
      },
    },
  };
}
