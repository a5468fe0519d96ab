/** A PgBouncer in front of a database of the tests, in a folder that is removed. */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

/**
 * `program`: the path of a pgbouncer (tests/kit/required.ts). `databaseUrl`: postgres://user@host:port/name; `url`: the
 * same through the pooler.
 */
export async function startPgbouncer(
  program: string,
  databaseUrl: string,
  mode: "session" | "transaction" | "statement",
): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port, username, pathname } = new URL(databaseUrl);
  const own = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "weir-pgbouncer-"));
  chmodSync(folder, 0o755);
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: own,
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: mode,
    default_pool_size: 40,
    max_client_conn: 200,
  };
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]\n${pathname.slice(1)} = host=${hostname} port=${port} user=${username}\n[pgbouncer]\n${Object.entries(
      settings,
    )
      .map(([name, value]) => `${name} = ${value}\n`)
      .join("")}`,
  );
  // It refuses to run as root.
  const args = [...(userInfo().uid === 0 ? ["-u", "nobody"] : []), file];
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const stop = async (): Promise<void> => {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    if (child.exitCode === null && child.kill("SIGKILL")) await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `postgres://${username}@127.0.0.1:${own}${pathname}`;
  for (let left = 200; ; left--) {
    const client = new SQL(url, { max: 1, connectionTimeout: 5 });
    try {
      await client`SELECT 1`;
      return { url, stop };
    } catch (error) {
      if (left > 0 && child.exitCode === null) await Bun.sleep(20);
      else {
        await stop();
        throw new Error(`pgbouncer did not start: ${said || String(error)}`, { cause: error });
      }
    } finally {
      await client.close({ timeout: 0 }).catch(() => {});
    }
  }
}
