import { expect, test } from "bun:test";
import { clientType } from "./client-type";

test("a caller is named by the product of its User-Agent, without version and remarks", () => {
  for (const [userAgent, name] of [
    ["claude-cli/1.0.83 (external, cli)", "claude-cli"],
    ["OpenAI/Python 1.51.0", "OpenAI/Python"],
    ["OpenAI/JS 6.0.1", "OpenAI/JS"],
    ["codex_cli_rs/0.46.0 (Mac OS 15.1; arm64) unknown", "codex_cli_rs"],
    ["GeminiCLI/v22.1.0 (linux; x64)", "GeminiCLI"],
    ["python-requests/2.32.3", "python-requests"],
    ["curl/8.5.0", "curl"],
    ["node", "node"],
    ["axios/1.7.2", "axios"],
    [
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
      "browser",
    ],
    [
      "Mozilla/5.0 (Macintosh) AppleWebKit/537.36 (KHTML, like Gecko) CherryStudio/1.2.4 Chrome/126 Electron/31.7 Safari/537.36",
      "CherryStudio",
    ],
    ["", "unknown"],
    [undefined, "unknown"],
    [null, "unknown"],
    ["(no product)", "unknown"],
  ] as const) {
    // spec: C-521
    expect([userAgent, clientType(userAgent)]).toEqual([userAgent, name]);
  }
});

test("a name never contains what could end a JSON text, and is short", () => {
  expect(clientType('evil","admin_info":{"x":"\\')).toMatch(/^[A-Za-z0-9._/@+-]*$/);
  expect(clientType("x".repeat(5000)).length).toBe(64);
  expect(clientType("\u0000\u0001名前/1")).toBe("unknown");
});
