/**
 * Only what `npm start` does before anything of ours runs: Bun and the packages. `node scripts/install.mjs build` then
 * runs a script of package.json with that Bun (the container image is built by it).
 */
import { bootstrap, runChild, runMain } from "./bootstrap.mjs";

await runMain(async () => {
  const bun = await bootstrap();
  const script = process.argv.slice(2);
  return script.length > 0 ? runChild(bun, ["run", ...script]) : 0;
});
