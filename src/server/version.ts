import pkg from "../../package.json" with { type: "json" };

/** `bun run build` defines the exact version; from source it is package.json's. */
declare const WEIR_VERSION: string | undefined;

export const VERSION: string = typeof WEIR_VERSION === "string" ? WEIR_VERSION : pkg.version;
