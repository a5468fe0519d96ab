import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { BunPlugin } from "bun";

/**
 * Bun plugin that keeps fonts as separate files: the CSS bundler would put them into the style sheet as base64, which
 * blocks the first paint. `files` maps the emitted path (`assets/<name>-<hash>.woff2`) to its bytes after the build.
 */
export function fontFiles(): { plugin: BunPlugin; files: Map<string, Uint8Array> } {
  const files = new Map<string, Uint8Array>();
  const plugin: BunPlugin = {
    name: "font-files",
    setup(build) {
      build.onResolve({ filter: /\.woff2$/ }, ({ path, importer }) => {
        const bytes = readFileSync(Bun.resolveSync(path, importer.replace(/[\\/][^\\/]*$/, "")));
        const hash = Bun.hash(bytes).toString(36).slice(0, 8);
        const emitted = `assets/${basename(path, ".woff2")}-${hash}.woff2`;
        files.set(emitted, bytes);
        return { path: `/${emitted}`, external: true };
      });
    },
  };
  return { plugin, files };
}
