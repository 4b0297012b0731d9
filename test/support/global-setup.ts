import { existsSync } from "node:fs";
import type { TestProject } from "vitest/node";
import type { ChainStates } from "./template-chain.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A Postgres server on which tests may create databases. */
    databaseUrl: string;
    /** The name of a database on this server that has all tables and no rows. */
    templateDatabase: string;
    /** Saved states of the local chains, with contracts and funded accounts. */
    chainStates: ChainStates;
    redisUrl: string;
  }
}

/**
 * These files are not in git. Without them, as on a fresh clone, no module that uses a contract can be
 * loaded.
 */
const GENERATED_CONTRACTS = new URL("../../packages/contracts/src/generated", import.meta.url);

/** Starts or finds Postgres and Redis once per project, and stops what it started. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!existsSync(GENERATED_CONTRACTS))
    throw new Error(
      "packages/contracts/src/generated not found: compile the contracts first, with `pnpm contracts`",
    );
  const { chooseServices } = await import("@causeway/testkit");
  const { createChainStates } = await import("./template-chain.ts");
  const { createTemplateDatabase } = await import("./template-database.ts");
  const services = await chooseServices(process.env);
  try {
    const [template, chains] = await Promise.all([
      createTemplateDatabase(services.databaseUrl),
      createChainStates(),
    ]);
    process.stdout.write(`${project.name}: ${services.description}\n`);
    project.provide("databaseUrl", services.databaseUrl);
    project.provide("templateDatabase", template.name);
    project.provide("chainStates", chains.states);
    project.provide("redisUrl", services.redisUrl);
    return async () => {
      await chains.remove();
      await template.drop();
      await services.stop();
    };
  } catch (error) {
    await services.stop();
    throw error;
  }
}
