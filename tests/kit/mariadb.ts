/** A MariaDB server for one test, in a folder that is removed. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

/**
 * `program`: the path of a mariadbd (tests/kit/required.ts). `url`: of its database, as a user with all rights and a
 * password.
 */
export async function startMariadb(program: string): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "weir-mariadb-"));
  const [data, port] = [join(folder, "data"), await freePort()];
  const asRoot = process.getuid?.() === 0 ? ["--user=root"] : [];
  // Without durability, and with little memory: it lives for one test.
  const common = ["--no-defaults", `--datadir=${data}`, ...asRoot, "--innodb-buffer-pool-size=32M"];
  const made = spawnSync(
    "mariadb-install-db",
    [...common, "--auth-root-authentication-method=normal", "--skip-test-db"],
    {
      encoding: "utf8",
    },
  );
  if (made.status !== 0) throw new Error(`mariadb-install-db failed: ${made.stderr ?? made.error}`);
  const server = spawn(
    program,
    [
      ...common,
      `--port=${port}`,
      "--bind-address=127.0.0.1",
      `--socket=${join(folder, "socket")}`,
      "--innodb-flush-log-at-trx-commit=0",
      "--skip-log-bin",
    ],
    { stdio: "ignore" },
  );
  const stop = async (): Promise<void> => {
    const gone = new Promise((resolve) => server.once("exit", resolve));
    if (server.exitCode === null && server.kill("SIGKILL")) await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (let left = 300; ; left--) {
      const client = new SQL(`mysql://root@127.0.0.1:${port}/mysql`, { max: 1, connectionTimeout: 5 });
      try {
        await client.unsafe("create database source");
        await client.unsafe("create user 'reader'@'127.0.0.1' identified by 'a password'");
        await client.unsafe("grant all on source.* to 'reader'@'127.0.0.1'");
        break;
      } catch (error) {
        if (left === 0 || server.exitCode !== null) throw error;
        await Bun.sleep(200);
      } finally {
        await client.close({ timeout: 0 }).catch(() => {});
      }
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `mysql://reader:${encodeURIComponent("a password")}@127.0.0.1:${port}/source`, stop };
}
