import { connectBitcoin, connectBitcoinUsers } from "@causeway/chains/bitcoin";
import type { Currency, Hex, NonEvmChain, RequestId } from "@causeway/domain";
import { encodeAddress, formatAddress, nativeCurrency, parseAccount } from "@causeway/families";
import { startBitcoin, type BitcoinControls } from "@causeway/simulators/bitcoin";
import { HDKey } from "viem/accounts";
import { createChainDirectory } from "../../apps/api/src/chains/directory.adapter.ts";
import type { TransferChain } from "../../apps/api/src/chains/chains.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { createAddressWatch } from "../../apps/api/src/deposits/addresses/address-watch.ts";
import { readArrivals } from "../../apps/api/src/deposits/non-evm/read-arrivals.ts";
import { openNonEvmLane } from "../../apps/api/src/payments/non-evm/open-lane.ts";
import { trackNonEvm } from "../../apps/api/src/payments/non-evm/track-payments.ts";
import { startAddressWorld, type AddressWorld } from "./address-world.ts";
import { anAttestationChain, anOwner, utxoOf, type Owner } from "./bitcoin-world.ts";
import type { QuotedRequest, QuoteOverrides } from "./engine-world.ts";
import { nonEvmProfile } from "./non-evm-world.ts";

export const CONFIRMATIONS = 3;
export const BITCOIN_USD = 50_000n;
const VERSIONS = { public: 0x043587cf, private: 0x04358394 };
const SOLVER_OUTPUTS = 12;
const SOLVER_OUTPUT = 1_000_000n;

/** The engine with deposit addresses on a Bitcoin regtest node. */
export interface BitcoinAddressWorld extends AddressWorld {
  readonly bitcoin: {
    readonly end: TransferChain;
    readonly controls: BitcoinControls;
    readonly depository: Owner;
    readonly solver: Owner;
    /** The confirmed and pending satoshis at an address. The address is in the format of the network. */
    held(address: string): Promise<bigint>;
  };
  /**
   * Requests a quote of 200,000 satoshis to USDC on the second chain, which is paid to a deposit address.
   */
  bitcoinAddress(
    overrides?: QuoteOverrides,
  ): Promise<QuotedRequest & { readonly address: string; readonly bytes: Hex }>;
  /** Does what a worker does at a new block of Bitcoin and of the EVM chains. */
  bitcoinRound(blocks?: number, processServices?: WorkerServices): Promise<void>;
  /** Mines one block per round until the request has this status. @throws after 40 rounds */
  untilStatus(requestId: RequestId, status: string): Promise<void>;
}

/** Starts the EVM chains and a Bitcoin node. */
export async function startBitcoinAddressWorld(): Promise<BitcoinAddressWorld> {
  const [world, node] = await Promise.all([
    startAddressWorld({ chain: { finalityBlocks: 2 } }),
    startBitcoin(),
  ]);
  const { services, clock } = world;
  const [depository, solver] = [anOwner(), anOwner()];
  for (let n = 0; n < SOLVER_OUTPUTS; n++) await utxoOf(node.controls, solver, SOLVER_OUTPUT);
  const root = HDKey.fromMasterSeed(Buffer.from("deposit addresses of bitcoin".padEnd(32)), VERSIONS);
  const { publicExtendedKey, privateExtendedKey } = root.derive("m/84'/1'/0'");
  const native = encodeAddress("bitcoin-vm", nativeCurrency("bitcoin-vm"));
  const profile = nonEvmProfile(8_001, "bitcoin", "bvm", native);
  const btc: Currency = {
    ...profile.native,
    id: "btc",
    symbol: "BTC",
    decimals: 8,
    class: "major",
    priceId: "bitcoin",
  };
  const chain: NonEvmChain = {
    ...profile,
    native: btc,
    depository: depository.bytes,
    confirmations: CONFIRMATIONS,
    bitcoin: { network: "regtest" },
  };
  world.prices.set("bitcoin", String(BITCOIN_USD));
  const attestation = anAttestationChain({ rpcUrls: [node.rpcUrl], esploraUrl: node.esploraUrl }, depository);
  const facts = { network: "regtest", confirmations: CONFIRMATIONS, blockTimeSeconds: 2 } as const;
  const connection = await connectBitcoin({
    chain,
    attestation: { ...attestation, bitcoin: { ...facts, esploraUrl: node.esploraUrl } },
    solver: solver.bytes,
    depositAddressKey: publicExtendedKey,
    now: () => clock.nowMs(),
    onFault: () => {},
  }).withKey(`0x${Buffer.from(solver.key).toString("hex")}`, privateExtendedKey);
  const users = connectBitcoinUsers({
    chain,
    attestation: { bitcoin: { esploraUrl: node.esploraUrl } },
    now: () => clock.nowMs(),
  });
  if (users === undefined) throw new Error("the chain has no explorer");
  const paymentCost = await connection.paymentCost(native, undefined);
  const connected: TransferChain = {
    chain,
    connection,
    pulse: {
      solverBalance: () => ({ amount: SOLVER_OUTPUT * BigInt(SOLVER_OUTPUTS) }),
      paymentCost: () => paymentCost,
      isLagging: () => false,
      headAgeMs: () => 0,
    },
    users: { balance: users.balance, deposit: users.deposit },
  };
  Object.assign(services, { chains: createChainDirectory(services.chains.evmChains, [connected]) });
  await openNonEvmLane(services, connected);
  await readArrivals(services, connected, undefined);

  const connectedOf = (processServices: WorkerServices): TransferChain =>
    processServices.chains.nonEvm(chain.id) ?? connected;
  const stop = world.stop.bind(world);
  const bitcoinWorld: BitcoinAddressWorld = Object.assign(world, {
    bitcoin: {
      end: connected,
      controls: node.controls,
      depository,
      solver,
      async held(address: string) {
        const outputs = (await (await fetch(`${node.esploraUrl}/address/${address}/utxo`)).json()) as {
          value: number;
        }[];
        return outputs.reduce((sum, { value }) => sum + BigInt(value), 0n);
      },
    },
    async bitcoinAddress(overrides: QuoteOverrides = {}) {
      const input = {
        user: anOwner().address,
        refundTo: anOwner().address,
        recipient: world.anAddress(),
        originChainId: chain.id,
        originCurrency: formatAddress(chain, native),
        amount: "200000",
        useDepositAddress: true,
        ...overrides,
      };
      const quoted = await world.quote(input, undefined, { chains: services.chains });
      const address = quoted.answer.steps[0]?.depositAddress ?? "";
      return { ...quoted, address, bytes: parseAccount(chain, address, "address") };
    },
    async bitcoinRound(blocks = 1, processServices: WorkerServices = services) {
      for (let n = 0; n < blocks; n++) {
        await node.controls.mine(1);
        await readArrivals(
          processServices,
          connectedOf(processServices),
          await processServices.reads.nonEvmCursor(chain.id),
        );
        await trackNonEvm(processServices, connectedOf(processServices));
        await createAddressWatch(world.watching(processServices), connectedOf(processServices)).scan(0n);
        clock.forward(2_000);
        await world.work(processServices);
      }
      await world.destination.mine();
      await world.watch(world.destination, processServices);
      await world.maintainLaneOf(world.destination, processServices);
    },
    async untilStatus(requestId: RequestId, status: string) {
      for (let n = 0; n < 40; n++) {
        if ((await world.status(requestId)).status === status) return;
        await bitcoinWorld.bitcoinRound();
      }
      throw new Error(`still ${JSON.stringify(await world.status(requestId))}`);
    },
    async stop() {
      await Promise.all([connection.close(), users.close()]);
      await Promise.all([stop(), node.stop()]);
    },
  });
  return bitcoinWorld;
}
