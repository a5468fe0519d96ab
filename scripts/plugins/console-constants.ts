import type { Plugin } from "rolldown";

/** Modules whose exports are plain values, computed from others that are too large to be fetched for them. */
const COMPUTED = /[\\/]src[\\/]shared[\\/]option-facts\.ts$/;

/**
 * Rolldown plugin that computes a module of constants while the console is bundled: the console has its values and
 * nothing that made them. Throws when the module does, or exports what is no plain value.
 */
export function consoleConstants(): Plugin {
  return {
    name: "console-constants",
    load: {
      filter: { id: COMPUTED },
      handler: async (id) => ({ code: await computed(id), moduleType: "js", moduleSideEffects: false }),
    },
  };
}

/** In a process of its own: in this one a module that is changed meanwhile keeps its first value (`npm run dev`). */
async function computed(id: string): Promise<string> {
  const program = `
    for (const [name, value] of Object.entries(await import(${JSON.stringify(id)}))) {
      const json = JSON.stringify(value);
      if (!Bun.deepEquals(JSON.parse(json ?? "null"), value)) throw new Error(name + " is no plain value");
      console.log("export const " + name + " = " + json + ";");
    }`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" });
  const [code, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${id} could not be computed: ${complaint}`);
  return code;
}
