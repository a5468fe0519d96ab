/**
 * `npm run …`: the same bootstrap as `npm start`, then a file under the pinned Bun, so that Node alone is enough.
 * `node scripts/run.mjs scripts/check.ts format`; what follows the file goes to it.
 */
import { bootstrap, runChild, runMain } from "./bootstrap.mjs";

await runMain(async () => runChild(await bootstrap(), process.argv.slice(2)));
