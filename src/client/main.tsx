import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { startLanguage } from "./lib/i18n";
import { watchSession } from "./lib/session";
import { watchStatus } from "./lib/status";
import { watchTheme } from "./lib/theme";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

watchTheme();
watchSession();
// The status travels while the catalogue does; the first render waits for the catalogue only, for it holds every word.
// Rendered in one go, effects included: what goes wrong from then on has words and a place to be shown.
const shown = startLanguage().then(() => flushSync(() => createRoot(root).render(<App />)));
watchStatus(shown);
await shown;
