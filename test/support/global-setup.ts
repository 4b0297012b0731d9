import { chooseServices } from "@causeway/localnet";
import type { TestProject } from "vitest/node";
import { createTemplateDatabase } from "./template-database.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A Postgres server on which tests may make databases. */
    databaseUrl: string;
    /** Name of a database on it that has all tables and no rows. */
    templateDatabase: string;
    redisUrl: string;
  }
}

/** Starts or finds Postgres and Redis once per project and tells which; ends what it started. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await chooseServices(process.env);
  try {
    const template = await createTemplateDatabase(services.databaseUrl);
    process.stdout.write(`${project.name}: ${services.description}\n`);
    project.provide("databaseUrl", services.databaseUrl);
    project.provide("templateDatabase", template.name);
    project.provide("redisUrl", services.redisUrl);
    return async () => {
      await template.drop();
      await services.stop();
    };
  } catch (error) {
    await services.stop();
    throw error;
  }
}
