import {
  connectForProgram,
  deployProgram,
  planProgram,
  programDeployer,
  programElf,
  type DepositoryPlan,
  type Payer,
  type ProgramPlan,
} from "@causeway/chains/solana-deployment";
import { askNode, type RunningSolana } from "@causeway/simulators/solana";
import { familyChains, familyKey } from "./family-plan.ts";

/** The local Solana programs, as planned by `operator deploy`. The local chain file names them. */
export interface LocalPrograms {
  readonly deployer: Payer;
  /** The depository program, then the deposit-address program. */
  readonly plans: readonly [ProgramPlan, ProgramPlan];
  readonly depository: DepositoryPlan;
}

export async function planLocalPrograms(): Promise<LocalPrograms> {
  const [deployer, owner, allocator] = await Promise.all([
    programDeployer(familyKey("deployer")),
    programDeployer(familyKey("owner")),
    programDeployer(familyKey("allocator")),
  ]);
  const shared = { deployer: deployer.address, location: { kind: "new", key: deployer } } as const;
  const [depositoryPlan, depositAddressPlan] = await Promise.all([
    planProgram({
      ...shared,
      elf: programElf("depository"),
      owner: owner.address,
      depository: {
        chainName: familyChains.solana,
        owner: owner.address,
        allocator: allocator.address,
      },
    }),
    planProgram({ ...shared, elf: programElf("deposit-address"), owner: undefined, depository: undefined }),
  ]);
  if (depositoryPlan.depository === undefined)
    throw new TypeError("invariant violated: a plan without depository");
  return { deployer, plans: [depositoryPlan, depositAddressPlan], depository: depositoryPlan.depository };
}

/** Milliseconds between additional blocks, which finalize the deployment sooner. */
const BLOCK_MS = 20;

/** Deploys both programs with the code of `operator deploy`. */
export async function deployLocalPrograms(node: Pick<RunningSolana, "url" | "controls">): Promise<void> {
  const { deployer, plans } = await planLocalPrograms();
  await askNode(node.url, "requestAirdrop", [deployer.address, 10_000_000_000]);
  const chain = await connectForProgram([node.url], undefined);
  const blocks = setInterval(() => node.controls.passSlots(1), BLOCK_MS);
  try {
    await Promise.all(
      plans.map((plan) =>
        deployProgram(chain, plan, {
          payer: deployer,
          price: 0n,
          waitMs: 60_000,
          nowMs: () => performance.now(),
          onBroadcast: () => undefined,
        }),
      ),
    );
  } finally {
    clearInterval(blocks);
    await chain.close();
  }
}
