/**
 * Registered by `[test] preload`: lets `bun test` load client files with Lingui macros and `.po` catalogues, and makes
 * password hashes cheap.
 */
import { plugin } from "bun";
// Before any plugin: once one is registered, Bun 1.4.5 does not run the macro of a module that two others import.
import "../../src/server/db/migrate";
import "../../tests/kit/quick-hashes";
import { linguiMacro } from "./lingui-macro";
import { linguiPo } from "./lingui-po";

plugin(linguiMacro({ keep: true }));
plugin(linguiPo({ keep: true }));
