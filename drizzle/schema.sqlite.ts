/** What drizzle-kit reads to write drizzle/sqlite. The tables are declared in src/server/db/schema.ts. */
import { sqliteKit } from "../src/server/db/columns";
import { makeTables } from "../src/server/db/schema";

export const {
  users, sessions, tokens, channels, options, logs, holds, instances, credits, usage_hourly, versions, leases, meta,
} = makeTables(sqliteKit);
