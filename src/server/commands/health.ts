import type { Env } from "../env";

/** `weir --health`: 0 when /readyz on this machine answers 200. */
export async function health(env: Env): Promise<number> {
  try {
    const answer = await fetch(`http://127.0.0.1:${env.PORT}/readyz`, { signal: AbortSignal.timeout(3000) });
    const state = (await answer.json()) as { ready: boolean; checks: Record<string, string> };
    console.log(
      Object.entries(state.checks)
        .map(([name, text]) => `${name}: ${text}`)
        .join("\n"),
    );
    return answer.ok ? 0 : 1;
  } catch {
    console.error(`nothing answers on port ${env.PORT}`);
    return 1;
  }
}
