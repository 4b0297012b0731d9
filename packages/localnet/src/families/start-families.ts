import { join } from "node:path";
import { hexToBytes, keccak256, stringToBytes } from "viem";
import { localAccount } from "../accounts.ts";
import { bitcoinAddress, startBitcoin, type RunningBitcoin } from "@causeway/simulators/bitcoin";
import { startHyperliquid, type RunningHyperliquid } from "@causeway/simulators/hyperliquid";
import {
  askNode,
  createMint,
  createPools,
  type LocalMint,
  mintTo,
  solanaKey,
  startJupiter,
  startSolana,
  type RunningJupiter,
  type RunningSolana,
} from "@causeway/simulators/solana";
import { startTogether, stopTogether, type Stoppable } from "@causeway/testkit";
import { deployLocalPrograms } from "./deploy-programs.ts";
import { familyKey, type FamilyAccounts, type FamilyPorts, type FamilyUrls } from "./family-plan.ts";

type Part<Node> = Stoppable & { readonly node: Node };
/** A token that no chain file names, and where it is swapped. */
interface SolanaSwaps {
  readonly jupiter: RunningJupiter;
  readonly unlisted: LocalMint;
}
/** With the solver's account. */
type PayingPart<Node> = Part<Node> & { readonly solver: string };

export interface FamiliesOptions {
  readonly ports: FamilyPorts;
  /** For logs and data. */
  readonly folder: string;
  /** Number of users to fund on each chain. Default: 2. */
  readonly users?: number;
  /** Milliseconds between Bitcoin blocks. Default: 1500. */
  readonly bitcoinBlockMs?: number;
  readonly onProgress: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** Chains of other families, with contracts and funds. */
export interface RunningFamilies extends Stoppable {
  readonly urls: FamilyUrls;
  readonly solver: FamilyAccounts;
  readonly solana: RunningSolana;
  readonly solanaSwaps: SolanaSwaps;
  readonly bitcoin: RunningBitcoin;
  readonly hyperliquid: RunningHyperliquid;
}

const LAMPORTS = 1_000_000_000n;
const SATOSHI = 100_000_000n;

/** The USDC mint in `configs/chains.local.json`. */
const MINT_SEED = hexToBytes(keccak256(stringToBytes("causeway local mint USDC")));

/**
 * Starts a Solana cluster, a Bitcoin network with a miner, and a local Hyperliquid in parallel; if one fails,
 * all are stopped.
 */
export async function startFamilies(options: FamiliesOptions): Promise<RunningFamilies> {
  const [solana, bitcoin, hyperliquid] = await startTogether<
    [PayingPart<RunningSolana> & SolanaSwaps, PayingPart<RunningBitcoin>, Part<RunningHyperliquid>]
  >([startFundedSolana(options), startFundedBitcoin(options), startFundedHyperliquid(options)]);
  return {
    urls: {
      solana: solana.node.url,
      solanaSwaps: solana.jupiter.url,
      bitcoin: bitcoin.node.rpcUrl,
      esplora: bitcoin.node.esploraUrl,
      hyperliquid: hyperliquid.node.url,
    },
    solver: { solana: solana.solver, bitcoin: bitcoin.solver },
    solana: solana.node,
    solanaSwaps: { jupiter: solana.jupiter, unlisted: solana.unlisted },
    bitcoin: bitcoin.node,
    hyperliquid: hyperliquid.node,
    stop: async () => await stopTogether([solana, bitcoin, hyperliquid]),
  };
}

async function startFundedSolana({
  ports,
  users = 2,
  onProgress,
}: FamiliesOptions): Promise<PayingPart<RunningSolana> & SolanaSwaps> {
  const node = await startSolana({ port: ports.solana, slotMs: 200, finalityLag: 4 });
  let jupiter: RunningJupiter | undefined;
  const part = {
    node,
    stop: async () => {
      await jupiter?.close();
      await node.close();
    },
  };
  try {
    const [owner, solver] = await Promise.all([
      solanaKey(hexToBytes(familyKey("owner"))),
      solanaKey(hexToBytes(familyKey("solver"))),
    ]);
    await deployLocalPrograms(node);
    const airdrop = async (to: string, sol: bigint) =>
      await askNode(node.url, "requestAirdrop", [to, Number(sol * LAMPORTS)]);
    await airdrop(owner.address, 100n);
    const mint = await createMint(node.url, {
      authority: owner,
      decimals: 6,
      account: await solanaKey(MINT_SEED),
    });
    const unlisted = await createMint(node.url, { authority: owner, decimals: 5 });
    await airdrop(solver.address, 10_000n);
    await mintTo(node.url, mint, solver.address, 10_000_000n * 1_000_000n);
    // A hundred of the unlisted token are worth a dollar.
    const reserves = [
      { of: mint, amount: 1_000_000n * 1_000_000n },
      { of: unlisted, amount: 100_000_000n * 100_000n },
    ];
    jupiter = await startJupiter({ pools: await createPools(node, reserves) });
    for (let index = 0; index < users; index++) {
      const user = await solanaKey(hexToBytes(familyKey("user", index)));
      await airdrop(user.address, 100n);
      await mintTo(node.url, mint, user.address, 10_000n * 1_000_000n);
      await mintTo(node.url, unlisted, user.address, 1_000_000n * 100_000n);
    }
    onProgress(`Solana on port ${ports.solana}: programs deployed, accounts funded`);
    return { ...part, solver: solver.address, jupiter, unlisted };
  } catch (error) {
    await part.stop();
    throw error;
  }
}

async function startFundedBitcoin({
  ports,
  folder,
  users = 2,
  bitcoinBlockMs = 1_500,
  onProgress,
  signal,
}: FamiliesOptions): Promise<PayingPart<RunningBitcoin>> {
  const node = await startBitcoin({
    port: ports.bitcoin,
    logFile: join(folder, "logs", "bitcoin.log"),
    ...(signal !== undefined && { signal }),
  });
  let isStopping = false;
  let mining = Promise.resolve();
  let miner: NodeJS.Timeout | undefined;
  const part = {
    node,
    stop: async () => {
      isStopping = true;
      clearInterval(miner);
      await mining;
      await node.stop();
    },
  };
  try {
    const solver = bitcoinAddress(hexToBytes(familyKey("solver")));
    // Several outputs each, so that payments need not wait for the change of a pending one.
    for (let output = 0; output < 10; output++) await node.controls.fund(solver, 2n * SATOSHI, false);
    for (let index = 0; index < users; index++) {
      const user = bitcoinAddress(hexToBytes(familyKey("user", index)));
      for (let output = 0; output < 2; output++) await node.controls.fund(user, SATOSHI / 2n, false);
    }
    await node.controls.mine(1);
    // Ignores nodes that are being stopped or were killed by a test; a test that needs blocks fails by
    // itself.
    miner = setInterval(() => {
      mining = mining.then(async () => {
        if (!isStopping) await node.controls.mine(1).catch(() => undefined);
      });
    }, bitcoinBlockMs);
    miner.unref();
    onProgress(
      `Bitcoin (regtest) on port ${ports.bitcoin}: a block every ${bitcoinBlockMs} ms, accounts funded`,
    );
    return { ...part, solver };
  } catch (error) {
    await part.stop();
    throw error;
  }
}

async function startFundedHyperliquid({
  ports,
  users = 2,
  onProgress,
}: FamiliesOptions): Promise<Stoppable & { readonly node: RunningHyperliquid }> {
  const node = await startHyperliquid({ port: ports.hyperliquid });
  for (const dex of ["", "spot"]) {
    node.control.fund(localAccount("solver").address, "10000000", "USDC", dex);
    for (let index = 0; index < users; index++)
      node.control.fund(localAccount("user", index).address, "10000", "USDC", dex);
  }
  onProgress(`Hyperliquid on port ${ports.hyperliquid}: accounts funded`);
  return { node, stop: async () => await node.close() };
}
