import { defineConfig } from "drizzle-kit";

/** `drizzle-kit generate` writes a migration for what changed in the tables. See docs/ARCHITECTURE.md. */
export default defineConfig({
  dialect: "postgresql",
  schema: "./src/db/schema.tables.ts",
  out: "./migrations",
  breakpoints: false,
});
