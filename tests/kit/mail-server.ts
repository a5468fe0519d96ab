/** A real SMTP server in this process: received mails can be read. */
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Whether the connection was encrypted. */
  secure: boolean;
  /** The user who signed in, "" = none. */
  account: string;
  /** Headers and body as sent. */
  raw: string;
}

export interface MailServer {
  port: number;
  mails: ReceivedMail[];
  close(): Promise<void>;
}

export interface MailServerOptions {
  /** none: no TLS is offered. */
  tls: "none" | "starttls" | "implicit";
  /** Requires this sign-in. */
  account?: string;
  password?: string;
  /** Answers every mail with this refusal. */
  refuse?: string;
}

/** For localhost and 127.0.0.1, its own authority. Made on 2026-11-21 by openssl req -x509 for these tests only. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUOcLrCnihLvDZBjZOkffAvrXZE3wwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTIzNTc1OVoYDzIxMjYxMDI4
MjM1NzU5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAThB/e9KEDH13kem+9v3nMX3HxKkuwm7hVZCCGdAzyxCdkrgcoX9p9P
iOyeGgMcuIRwS3KFf57O7gyLjkD/uYBJo28wbTAdBgNVHQ4EFgQUuM4EnphxyvlI
XQVNLhcoocxNKHAwHwYDVR0jBBgwFoAUuM4EnphxyvlIXQVNLhcoocxNKHAwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgaMLA+KR3ERKVvPpLh8/ExFq6SmnG0IPvauTzlCkxbaMCIF0D
/6sA4E684GVgNZ6sEfmQYOtyuFw2zF/exQ8seMqu
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9Hqoa2WzfipFU25Z
WMMGoyhBYw+mhDTTnz6W+zRktxChRANCAAThB/e9KEDH13kem+9v3nMX3HxKkuwm
7hVZCCGdAzyxCdkrgcoX9p9PiOyeGgMcuIRwS3KFf57O7gyLjkD/uYBJ
-----END PRIVATE KEY-----
`;

export async function startMailServer({ tls, account, password, refuse }: MailServerOptions): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    secure: tls === "implicit",
    key: KEY,
    cert: CERTIFICATE,
    disabledCommands: [...(tls === "none" ? ["STARTTLS"] : []), ...(account === undefined ? ["AUTH"] : [])],
    allowInsecureAuth: true,
    authOptional: account === undefined,
    disableReverseLookup: true,
    logger: false,
    onAuth: (auth, _session, done) =>
      auth.username === account && auth.password === password
        ? done(null, { user: account })
        : done(new Error("Invalid sign-in")),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (refuse !== undefined) return done(new Error(refuse));
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom ? mailFrom.address : "",
          to: rcptTo.map(({ address }) => address),
          secure: session.secure,
          account: String(session.user ?? ""),
          raw: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
  });
  // A client's protocol errors are the client's to report.
  server.on("error", () => {});
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
