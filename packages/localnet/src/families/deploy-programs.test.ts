import { readJsonFile } from "@causeway/config";
import { repositoryRoot } from "@causeway/testkit";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planLocalPrograms } from "./deploy-programs.ts";

test("the local chain file names the programs that the local system deploys", async () => {
  const name = "chains.local.json";
  const entries = readJsonFile(join(repositoryRoot, "configs", name), name) as readonly { id: string }[];
  const { plans, depository } = await planLocalPrograms();
  const [depositoryPlan, depositAddressPlan] = plans;
  expect(entries.find(({ id }) => id === "local-solana")).toMatchObject({
    depository: depositoryPlan.program,
    depositoryRoles: {
      upgradeAuthority: depositoryPlan.owner,
      owner: depository.owner,
      allocator: depository.allocator,
    },
    depositAddressProgram: depositAddressPlan.program,
  });
});
