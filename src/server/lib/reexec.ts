/**
 * Raises Bun's limit of simultaneous fetches: 256 per process by default; streams count for their whole life, and the
 * 257th waits silently. Bun reads the variable when the process starts, so setting it in code is too late: the process
 * replaces itself once (same PID, 4 ms). Must be the first import of main.ts; an operator's own value is kept.
 */
const VARIABLE = "BUN_CONFIG_MAX_HTTP_REQUESTS";
const MOST = "65535";

if (!process.env[VARIABLE] && process.execve) {
  // argv[0] is "bun" in a binary and in source alike; argv[1] is the script, which only the source form must repeat.
  const args = Bun.isStandaloneExecutable ? process.argv.slice(2) : [...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, [process.execPath, ...args], { ...process.env, [VARIABLE]: MOST });
}

export {};
