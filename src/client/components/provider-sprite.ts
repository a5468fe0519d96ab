import { logoSprite } from "../../../scripts/plugins/logo-sprite" with { type: "macro" };

/** Read from the package when the console is bundled. */
const SPRITE = logoSprite();
const ID = "provider-logos";

/** Puts the drawings into the document, once; not `display: none`, which would break references in some browsers. */
export function insertSprite(): void {
  if (document.getElementById(ID)) return;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.id = ID;
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("width", "0");
  svg.setAttribute("height", "0");
  svg.setAttribute("class", "absolute");
  svg.innerHTML = SPRITE;
  document.body.append(svg);
}
