/**
 * Zod would compile its checks with `new Function`, which the content security policy refuses: each page would report a
 * violation. Load this before anything that checks.
 */
import { config } from "zod/v4/core";

config({ jitless: true });
