import { connectSolana, associatedTokenAddress } from "@causeway/chains/solana";
import { connectNonEvmUsers } from "@causeway/chains";
import type { Currency, Hex, NonEvmChain, RequestId } from "@causeway/domain";
import { encodeAddress, formatAddress, nativeCurrency, parseAccount } from "@causeway/families";
import {
  depositAddressProgram,
  LOCAL_DEPOSIT_ADDRESSES,
  mintTo,
  solanaKey,
  type LocalMint,
} from "@causeway/simulators/solana";
import { createChainDirectory } from "../../apps/api/src/chains/directory.adapter.ts";
import type { TransferChain } from "../../apps/api/src/chains/chains.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { createAddressWatch } from "../../apps/api/src/deposits/addresses/address-watch.ts";
import { readArrivals } from "../../apps/api/src/deposits/non-evm/read-arrivals.ts";
import { openNonEvmLane } from "../../apps/api/src/payments/non-evm/open-lane.ts";
import { trackNonEvm } from "../../apps/api/src/payments/non-evm/track-payments.ts";
import { startAddressWorld, type AddressWorld } from "./address-world.ts";
import type { QuotedRequest, QuoteOverrides } from "./engine-world.ts";
import { nonEvmProfile } from "./non-evm-world.ts";
import { lamportTransfer, startSolanaWorld, type SolanaWorld } from "./solana-world.ts";

/** The number of slots until a block is final. */
export const FINALITY_LAG = 4;
const bytesOf = (text: string): Hex => encodeAddress("solana-vm", text);

/** The engine with deposit addresses on a local Solana cluster. */
export interface SolanaAddressWorld extends AddressWorld {
  readonly solana: SolanaWorld;
  readonly solanaChain: TransferChain;
  /** SOL, USDC with 6 decimals, and `fee`: a token that keeps one percent of each transfer. */
  readonly currencies: Readonly<Record<"sol" | "usdc" | "fee", Currency>>;
  /** The address of a new wallet, in the format of the network. */
  aWallet(): Promise<string>;
  /** Requests a quote to USDC on the second EVM chain, which is paid to a deposit address. */
  solanaAddress(
    currency: Currency,
    amount: bigint,
    overrides?: QuoteOverrides,
  ): Promise<QuotedRequest & { readonly address: string; readonly bytes: Hex }>;
  /** Sends funds to an address and advances one slot. */
  payTo(address: string, currency: Currency, amount: bigint): Promise<void>;
  /** Base units that a wallet holds. */
  balanceOf(wallet: string, currency: Currency): Promise<bigint>;
  /** Runs rounds. Each round advances the cluster by a few slots and runs the worker once. */
  solanaRound(rounds?: number, processServices?: WorkerServices): Promise<void>;
  /** Runs rounds until the request has this status. @throws after 40 rounds */
  untilStatus(requestId: RequestId, status: string): Promise<void>;
}

/** Starts the EVM chains and a Solana cluster. */
export async function startSolanaAddressWorld(): Promise<SolanaAddressWorld> {
  const [world, solana] = await Promise.all([
    startAddressWorld({ chain: { finalityBlocks: 2 } }),
    startSolanaWorld({ finalityLag: FINALITY_LAG }),
  ]);
  const { services, clock } = world;
  const { node, depository: at, solver, user } = solana;
  node.controls.addProgram(LOCAL_DEPOSIT_ADDRESSES, depositAddressProgram());
  const native = bytesOf(nativeCurrency("solana-vm"));
  const profile = nonEvmProfile(8_002, "solana", "svm", native);
  const sol: Currency = {
    ...profile.native,
    id: "sol",
    symbol: "SOL",
    decimals: 9,
    class: "major",
    priceId: "solana",
  };
  const tokenOf = (id: string, { mint }: LocalMint): Currency => ({
    ...sol,
    id,
    symbol: id.toUpperCase(),
    address: bytesOf(mint),
    decimals: 6,
    class: "stable",
    priceId: "usd-coin",
  });
  const currencies = { sol, usdc: tokenOf("usdc", solana.token), fee: tokenOf("fee", solana.feeToken) };
  const chain: NonEvmChain = {
    ...profile,
    native: sol,
    tokens: [currencies.usdc, currencies.fee],
    rpcUrl: node.url,
    depository: bytesOf(at.program),
    depositAddressProgram: bytesOf(LOCAL_DEPOSIT_ADDRESSES),
  };
  world.prices.set("solana", "100");
  const options = {
    chain,
    attestation: solana.chain(),
    solver: bytesOf(solver.address),
    now: () => clock.nowMs(),
    onFault: () => {},
  };
  const readOnlyConnection = await connectSolana(options);
  const connection = await readOnlyConnection.withKey(`0x${Buffer.from(solver.seed).toString("hex")}`);
  const users = await connectNonEvmUsers(options);
  if (users === undefined) throw new Error("users pay on Solana");
  node.controls.finalize();
  const balances = await connection.balances([native, ...chain.tokens.map(({ address }) => address)]);
  const cost = new Map<Hex, bigint>();
  for (const { address } of [sol, ...chain.tokens])
    cost.set(address, await connection.paymentCost(address, undefined));
  const solanaChain: TransferChain = {
    chain,
    connection,
    pulse: {
      solverBalance: (currency) => ({ amount: balances.get(currency) ?? 0n }),
      paymentCost: (currency) => cost.get(currency) ?? 0n,
      isLagging: () => false,
      headAgeMs: () => 0,
    },
    users,
  };
  Object.assign(services, { chains: createChainDirectory(services.chains.evmChains, [solanaChain]) });
  await openNonEvmLane(services, solanaChain);
  await readArrivals(services, solanaChain, undefined);

  const chainOf = (processServices: WorkerServices): TransferChain =>
    processServices.chains.nonEvm(chain.id) ?? solanaChain;
  const stop = world.stop.bind(world);
  const mintOf = ({ address }: Currency): LocalMint => solana.mintOf(formatAddress(chain, address));
  const solanaWorld: SolanaAddressWorld = Object.assign(world, {
    solana,
    solanaChain,
    currencies,
    aWallet: async () => (await solanaKey()).address,
    async solanaAddress(currency: Currency, amount: bigint, overrides: QuoteOverrides = {}) {
      const input = {
        user: user.address,
        refundTo: await solanaWorld.aWallet(),
        recipient: world.anAddress(),
        originChainId: chain.id,
        originCurrency: formatAddress(chain, currency.address),
        amount: amount.toString(),
        useDepositAddress: true,
        ...overrides,
      };
      const quoted = await world.quote(input, undefined, { chains: services.chains });
      const address = quoted.answer.steps[0]?.depositAddress ?? "";
      return { ...quoted, address, bytes: parseAccount(chain, address, "address") };
    },
    async payTo(address: string, currency: Currency, amount: bigint) {
      if (currency === sol) await solana.send(user, [lamportTransfer(user.address, address, amount)]);
      else await mintTo(node.url, mintOf(currency), address, amount);
      node.controls.passSlots(1);
    },
    async balanceOf(wallet: string, currency: Currency) {
      node.controls.passSlots(1);
      if (currency === sol) return node.controls.account(wallet)?.lamports ?? 0n;
      const { mint, tokenProgram } = mintOf(currency);
      const account = node.controls.account(await associatedTokenAddress(wallet, mint, tokenProgram));
      return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(64);
    },
    async solanaRound(rounds = 1, processServices: WorkerServices = services) {
      for (let n = 0; n < rounds; n++) {
        node.controls.passSlots(FINALITY_LAG / 2);
        await readArrivals(
          processServices,
          chainOf(processServices),
          await processServices.reads.nonEvmCursor(chain.id),
        );
        await trackNonEvm(processServices, chainOf(processServices));
        await createAddressWatch(world.watching(processServices), chainOf(processServices)).scan(0n);
        clock.forward(2_000);
        await world.work(processServices);
        await world.destination.mine();
        await world.watch(world.destination, processServices);
        await world.maintainLaneOf(world.destination, processServices);
      }
    },
    async untilStatus(requestId: RequestId, status: string) {
      for (let n = 0; n < 40; n++) {
        if ((await world.status(requestId)).status === status) return;
        await solanaWorld.solanaRound();
      }
      throw new Error(`still ${JSON.stringify(await world.status(requestId))}`);
    },
    async stop() {
      await Promise.all([connection.close(), users.close()]);
      await Promise.all([stop(), solana.close()]);
    },
  });
  return solanaWorld;
}
