import { basename } from "node:path";
import type { OutputChunk } from "rolldown";

/** What the console's build and its tests need of a script. */
export type Script = Pick<
  OutputChunk,
  "fileName" | "name" | "code" | "imports" | "moduleIds" | "facadeModuleId" | "isEntry"
>;

/** A minified script that only names what another one exports, or only starts it. */
const FACADE = /^(?:export\{([^}]*)\}from|import)"\.\/([^"]+)";\s*$/;
const LAZY_IMPORT = /\bimport\(([`"'])\.\/([^`"']+)\1\)/g;

/**
 * The minified scripts without those that only name what another one exports. Rolldown makes one for each page: a page
 * that shares its file by a rule (console-chunks.ts) has no file of its own to be imported from. Here its lazy
 * imports name the file behind it, which saves a request that the next one waits for. The names of the files stay
 * right: what is replaced had the hash of the file behind it in its own.
 */
export function withoutFacades(scripts: readonly OutputChunk[]): Script[] {
  const facades = new Map<string, { of: string; members: string }>();
  let start: string | undefined;
  for (const { fileName, code, isEntry } of scripts) {
    const [, names, of] = FACADE.exec(code) ?? [];
    if (of === undefined) continue;
    facades.set(basename(fileName), { of, members: (names ?? "").split(",").map(memberOf).join() });
    if (isEntry) start = of;
  }
  return scripts
    .filter(({ fileName }) => !facades.has(basename(fileName)))
    .map(({ fileName, name, code, imports, moduleIds, facadeModuleId, isEntry }) => ({
      fileName,
      name,
      code: code.replace(LAZY_IMPORT, (call, _quote, target: string) => {
        const facade = facades.get(target);
        return facade ? `import("./${facade.of}").then(m=>({${facade.members}}))` : call;
      }),
      imports,
      moduleIds,
      facadeModuleId,
      isEntry: isEntry || basename(fileName) === start,
    }));
}

/** Of `t as default` the member `default:m.t`. */
function memberOf(exported: string): string {
  const [name = "", as = name] = exported.split(" as ");
  return `${as}:m.${name}`;
}
