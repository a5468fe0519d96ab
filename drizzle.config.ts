import { defineConfig } from "drizzle-kit";

/** `bun run db:generate` runs this twice, once per engine, from the one schema. */
const engine = process.env.WEIR_DRIZZLE_ENGINE === "postgres" ? "postgres" : "sqlite";

export default defineConfig({
  dialect: engine === "postgres" ? "postgresql" : "sqlite",
  schema: engine === "postgres" ? "./drizzle/schema.pg.ts" : "./drizzle/schema.sqlite.ts",
  out: `./drizzle/${engine}`,
});
