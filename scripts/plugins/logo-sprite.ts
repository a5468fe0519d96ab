import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { logoSlugs } from "./logo-slugs";

/**
 * Bun macro: the provider logos as one string of SVG `<symbol>`s, read from @lobehub/icons-static-svg when the
 * console is bundled. The one-colour drawings are used, so that they follow the text colour in both themes.
 */
export function logoSprite(): string {
  const require = createRequire(import.meta.url);
  const folder = join(dirname(require.resolve("@lobehub/icons-static-svg/package.json")), "icons");
  return logoSlugs
    .map((slug) => {
      const svg = readFileSync(join(folder, `${slug}.svg`), "utf8");
      const body = /<svg[^>]*>([\s\S]*)<\/svg>/.exec(svg)?.[1]?.replace(/<title>[^<]*<\/title>/, "");
      const viewBox = /viewBox="([^"]+)"/.exec(svg)?.[1];
      if (!body || !viewBox) throw new Error(`the logo ${slug} is not the SVG we expect`);
      return `<symbol id="logo-${slug}" viewBox="${viewBox}" fill="currentColor" fill-rule="evenodd">${body}</symbol>`;
    })
    .join("");
}
