/** Mail over SMTP: STARTTLS by default, implicit TLS on port 465 or by setting. One connection per mail. */
import { AppError, fail } from "../../shared/errors";
import { isMailbox } from "../../shared/mailbox";

export interface Mail {
  /** One address, without a name. */
  to: string;
  subject: string;
  text: string;
  html?: string;
}

/**
 * Resolves when the server has accepted the mail. Throws AppError mail_not_configured, mail_address_invalid,
 * mail_failed. The mail server's own words are in the cause of the last and in the log, not in its text, which people
 * without an account see.
 */
export type SendMail = (mail: Mail) => Promise<void>;

export interface MailSettings {
  /** "" = no mail. */
  host: string;
  port: number;
  /** "" = the server needs no sign-in. */
  account: string;
  password: string;
  /** "" = the account. */
  from: string;
  /** Shown beside the sender's address. */
  name: string;
  /** TLS from the first byte. */
  ssl: boolean;
  /** For tests: the certificate authority to trust. */
  ca?: string;
}

/** Port that has TLS from the first byte by its definition (RFC 8314). */
const IMPLICIT_TLS_PORT = 465;
const CONNECT_MS = 10_000;
/** Without any data from the server. */
const SILENCE_MS = 30_000;

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);

/**
 * `settings` is called for every mail, so that a change applies at once; `failed` with the reason why one was not sent.
 */
export function createMailer(settings: () => MailSettings, failed: (reason: string) => void): SendMail {
  return async ({ to, subject, text, html }) => {
    const { host, port, account, password, from, name, ssl, ca } = settings();
    if (host === "") fail("mail_not_configured");
    if (!isMailbox(to)) fail("mail_address_invalid");
    const sender = from || account;
    // Libraries of what most calls never do are loaded when it is done: each is some 50 ms of every start.
    const { default: nodemailer } = await import("nodemailer");
    const transport = nodemailer.createTransport({
      host,
      port,
      secure: ssl || port === IMPLICIT_TLS_PORT,
      // A password is never sent in clear over a network, even if STARTTLS was stripped on the way.
      requireTLS: account !== "" && !isLoopback(host),
      ...(account === "" ? {} : { auth: { user: account, pass: password } }),
      ...(ca === undefined ? {} : { tls: { ca } }),
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      // A mail is the texts given here: no path or address in it is opened.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      await transport.sendMail({
        // An object is one address; a text would be parsed as a list. "Name <address>" is the operator's setting.
        from: isMailbox(sender) ? { name, address: sender } : sender,
        to: { name: "", address: to },
        subject,
        text,
        html,
      });
    } catch (error) {
      const reason = reasonOf(error);
      failed(reason);
      throw new AppError("mail_failed", {}, { cause: new Error(reason) });
    } finally {
      transport.close();
    }
  };
}

/** The server's response or the connection's error; never what was sent. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const text = "response" in error && typeof error.response === "string" ? error.response : error.message;
  return text.slice(0, 300);
}
