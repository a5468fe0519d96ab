import type { MouseEvent } from "react";

/** A press without a key; Enter on a link is a click, too, but not of a pointer. */
const isPlain = ({ detail, ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean =>
  detail > 0 && !(ctrlKey || metaKey || shiftKey || altKey);

/** Props of a link that stands in rows of a list: there a plain press means the row. */
export const ROW_LINK = {
  "data-row-link": "",
  onClick: (event: MouseEvent<HTMLElement>) => {
    if (isPlain(event) && event.currentTarget.closest("[data-row]")) event.preventDefault();
  },
};

const CONTROLS = "a, button, input, label, [role=menuitem], [role=switch], [data-row-control]";

/** True when a press was meant for something inside the row and not for the row. */
export function isForControl(event: MouseEvent): boolean {
  const control = event.target instanceof Element ? event.target.closest(CONTROLS) : null;
  return control !== null && !(control.hasAttribute("data-row-link") && isPlain(event));
}
