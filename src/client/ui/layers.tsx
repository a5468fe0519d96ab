import { useLingui } from "@lingui/react/macro";
import { useEffect } from "react";

/** In index.html, so that it is there before the first portal looks for it. */
const ID = "layers";

/**
 * The place of everything that floats over the page: a landmark, so that assistive technology finds it there. The body
 * where a document has no such place (component tests).
 */
export function layerRoot(): HTMLElement | undefined {
  return document.getElementById(ID) ?? undefined;
}

/** Names the place in the user's language; mounted once in the app. */
export function LayersLabel() {
  const { t } = useLingui();
  const label = t`浮层`;
  useEffect(() => layerRoot()?.setAttribute("aria-label", label), [label]);
  return null;
}
