/** `npm test [tier…]`: the same bootstrap as `npm start`, then every tier of scripts/test.ts (or those named). */
import { bootstrap, runChild, runMain } from "./bootstrap.mjs";

await runMain(async () => runChild(await bootstrap(), ["scripts/test.ts", ...process.argv.slice(2)]));
