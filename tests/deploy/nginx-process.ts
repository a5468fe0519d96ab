/** A real nginx in front of a server: with a file of deploy/, or with only a proxy_pass. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../scripts/run-command";

export interface Nginx {
  http: string;
  https: string;
  /** The output of `nginx -t`. */
  tested: string;
  stop(): Promise<void>;
}

/** Where an nginx listens and keeps its certificate. */
interface Place {
  http: number;
  https: number;
  certificate: string;
  key: string;
}

/** A file of deploy/: only addresses, ports and certificate paths are replaced. */
const startWith = (nginx: string, file: string, more: Record<string, string>): Promise<Nginx> =>
  start(nginx, ({ http, https, certificate, key }) =>
    replaceAll(readFileSync(join(ROOT, "deploy", file), "utf8"), {
      "listen 80;": `listen 127.0.0.1:${http};`,
      "listen 443 ssl http2;": `listen 127.0.0.1:${https} ssl http2;`,
      ...more,
      [`${CERTIFICATES[file] ?? ""}/fullchain.pem`]: certificate,
      [`${CERTIFICATES[file] ?? ""}/privkey.pem`]: key,
    }),
  );
const CERTIFICATES: Record<string, string> = {
  "nginx.conf": "/etc/letsencrypt/live/weir.example.com",
  "nginx-two-nodes.conf": "/etc/nginx/certificates",
};

export const startNginx = (nginx: string, weirPort: number): Promise<Nginx> =>
  startWith(nginx, "nginx.conf", { "server 127.0.0.1:3000;": `server 127.0.0.1:${weirPort};` });

/** The file of deploy/compose.scale.yaml. */
export const startTwoNodes = (nginx: string, [one, two]: readonly [number, number]): Promise<Nginx> =>
  startWith(nginx, "nginx-two-nodes.conf", {
    "server weir-1:3000;": `server 127.0.0.1:${one};`,
    "server weir-2:3000;": `server 127.0.0.1:${two};`,
  });

/** A minimal configuration: it sends `Host: 127.0.0.1:<weirPort>` and no headers about the caller. */
export const startBareNginx = (nginx: string, weirPort: number): Promise<Nginx> =>
  start(
    nginx,
    ({ http, https, certificate, key }) =>
      `server { listen 127.0.0.1:${http}; listen 127.0.0.1:${https} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${key};\n` +
      `  location / { proxy_pass http://127.0.0.1:${weirPort}; } }\n`,
  );

async function start(nginx: string, siteOf: (place: Place) => string): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), "weir-nginx-"));
  const [http, https] = [await freePort(), await freePort()];
  makeCertificate(folder);
  writeFileSync(
    join(folder, "weir.conf"),
    siteOf({ http, https, certificate: join(folder, "cert.pem"), key: join(folder, "key.pem") }),
  );
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join("\n  ");
  writeFileSync(
    join(folder, "nginx.conf"),
    `${process.getuid?.() === 0 ? "user root;\n" : ""}worker_processes 1;\ndaemon off;\npid ${join(folder, "nginx.pid")};\nerror_log stderr;\n` +
      `events { worker_connections 256; }\nhttp {\n  access_log off;\n  ${temp}\n  include ${join(folder, "weir.conf")};\n}\n`,
  );
  mkdirSync(join(folder, "logs"));
  const args = ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")];
  const test = spawnSync(nginx, ["-t", ...args], { encoding: "utf8" });
  const child = spawn(nginx, args, { stdio: ["ignore", "ignore", "pipe"] });
  const errors: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  const stop = async (): Promise<void> => {
    await ended(child);
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; tries < 200 && child.exitCode === null; tries++) {
    const answer = await fetch(`http://127.0.0.1:${http}/`, { redirect: "manual" }).catch(() => undefined);
    if (answer) {
      return { http: `http://127.0.0.1:${http}`, https: `https://127.0.0.1:${https}`, tested: test.stderr, stop };
    }
    await Bun.sleep(25);
  }
  await stop();
  throw new Error(`nginx did not start:\n${test.stderr}${Buffer.concat(errors).toString()}`);
}

/** Throws when a part is missing: then the file has changed, and this test must change with it. */
function replaceAll(text: string, pieces: Record<string, string>): string {
  for (const [from, to] of Object.entries(pieces)) {
    if (!text.includes(from)) throw new Error(`the file of deploy/ no longer says: ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

let made: { cert: string; key: string } | undefined;

/** One per process: making a key takes longer than starting nginx. */
function makeCertificate(folder: string): void {
  if (!made) {
    const run = spawnSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=weir.example.com",
        "-keyout",
        "key.pem",
        "-out",
        "cert.pem",
      ],
      { cwd: folder, encoding: "utf8" },
    );
    if (run.status !== 0) throw new Error(`openssl is needed for a certificate: ${run.stderr ?? run.error}`);
    made = { cert: readFileSync(join(folder, "cert.pem"), "utf8"), key: readFileSync(join(folder, "key.pem"), "utf8") };
  }
  writeFileSync(join(folder, "cert.pem"), made.cert);
  writeFileSync(join(folder, "key.pem"), made.key, { mode: 0o600 });
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, "127.0.0.1", done));
  const address = probe.address();
  await new Promise((done) => probe.close(done));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((done) => child.once("exit", done));
  child.kill("SIGTERM"); // fast shutdown: the workers go with the master
  await exit;
}
