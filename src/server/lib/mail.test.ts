import { afterEach, describe, expect, test } from "bun:test";
import { CERTIFICATE, type MailServer, type MailServerOptions, startMailServer } from "../../../tests/kit/mail-server";
import { AppError } from "../../shared/errors";
import { isMailbox } from "../../shared/mailbox";
import { createMailer, type Mail, type MailSettings } from "./mail";

const MAIL: Mail = { to: "ada@example.com", subject: "Wenig übrig: 余额不足", text: "Guten Tag, 您好" };

describe("mail", () => {
  const servers: MailServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  async function world(options: MailServerOptions, changed: Partial<MailSettings> = {}) {
    const server = await startMailServer(options);
    servers.push(server);
    const settings: MailSettings = {
      host: "127.0.0.1",
      port: server.port,
      account: "post@weir.example",
      password: "mail-secret",
      from: "",
      name: "Weir",
      ssl: options.tls === "implicit",
      ca: CERTIFICATE,
      ...changed,
    };
    const reasons: string[] = [];
    return {
      server,
      settings,
      reasons,
      send: createMailer(
        () => settings,
        (reason) => void reasons.push(reason),
      ),
    };
  }
  const account = { account: "post@weir.example", password: "mail-secret" };
  const codeOf = async (work: Promise<void>) =>
    work.then(
      () => "sent",
      (error: unknown) => (error instanceof AppError ? [error.code, error.values] : error),
    );

  test("a server that offers STARTTLS gets account and mail encrypted", async () => {
    const { server, send } = await world({ tls: "starttls", ...account });
    await send(MAIL);
    const [mail] = server.mails;
    // spec
    expect(mail).toMatchObject({
      from: account.account,
      to: ["ada@example.com"],
      secure: true,
      account: account.account,
    });
    expect(mail?.raw).toContain("From: Weir <post@weir.example>");
    expect(mail?.raw).toContain("Content-Type: text/plain; charset=utf-8");
  });

  test("implicit TLS speaks TLS from the first byte", async () => {
    const { server, send } = await world({ tls: "implicit", ...account });
    await send({ ...MAIL, html: "<p>Guten Tag</p>" });
    // spec: A-255
    expect(server.mails[0]).toMatchObject({ secure: true, to: ["ada@example.com"] });
    expect(server.mails[0]?.raw).toContain("multipart/alternative");
  });

  test("an untrusted certificate is refused, and nothing is sent", async () => {
    for (const tls of ["starttls", "implicit"] as const) {
      const { server, reasons, send } = await world({ tls, ...account }, { ca: undefined });
      expect(await codeOf(send(MAIL))).toEqual(["mail_failed", {}]);
      expect(reasons).toEqual([expect.stringMatching(/certificate/i)]);
      expect(server.mails).toEqual([]);
    }
  });

  test("without an account there is no sign-in; the sender is SMTPFrom, with a name if it has one", async () => {
    const { server, settings, send } = await world(
      { tls: "none" },
      { account: "", password: "", from: "noreply@weir.example" },
    );
    await send(MAIL);
    settings.from = "Weir at home <home@weir.example>";
    await send(MAIL);
    // spec: A-253
    expect(server.mails.map(({ from, account, secure }) => ({ from, account, secure }))).toEqual([
      { from: "noreply@weir.example", account: "", secure: false },
      { from: "home@weir.example", account: "", secure: false },
    ]);
  });

  test("a wrong password, a refusal and a server that is down: the log has the server's words, the caller's error has not, and neither has the password", async () => {
    const wrong = await world({ tls: "starttls", ...account }, { password: "another-secret" });
    const full = await world({ tls: "starttls", ...account, refuse: "The mailbox is full" });
    for (const { send } of [wrong, full]) expect(await codeOf(send(MAIL))).toEqual(["mail_failed", {}]);
    await full.server.close();
    expect(await codeOf(full.send(MAIL))).toEqual(["mail_failed", {}]);
    // spec: A-254
    expect(wrong.reasons).toEqual([expect.stringContaining("535")]);
    expect(wrong.reasons.join()).not.toContain("another-secret");
    expect(full.reasons).toEqual([
      expect.stringContaining("The mailbox is full"),
      expect.stringContaining("ECONNREFUSED"),
    ]);
  });

  test("over a network a password waits for TLS: a server without it gets neither account nor mail", async () => {
    // 0.0.0.0 leads to this machine, but is not one of its loopback names.
    const { server, send } = await world({ tls: "none", ...account }, { host: "0.0.0.0" });
    expect(await codeOf(send(MAIL))).toEqual(["mail_failed", {}]);
    expect(server.mails).toEqual([]);
  });

  test("a missing mail server has its own error, before anything is tried", async () => {
    const { settings, send } = await world({ tls: "none" });
    settings.host = "";
    expect(await codeOf(send(MAIL))).toEqual(["mail_not_configured", {}]);
  });

  test("one address is one receiver: lists, names and line breaks are refused", async () => {
    const { server, send } = await world({ tls: "none" }, { account: "" });
    const bad = [
      "",
      "ada",
      "@",
      "a@",
      "a@b,c@d",
      "a@b;c@d",
      "Ada <a@b>",
      "a@b\r\nBcc: c@d",
      "a b@c",
      "a@b c",
      '"a@evil"@b',
      "group:a@b;",
      "a@b@c",
      `${"x".repeat(65)}@b`,
      "a@b\u0000",
    ];
    for (const to of bad) {
      expect([to, isMailbox(to)]).toEqual([to, false]);
      expect(await codeOf(send({ ...MAIL, to }))).toEqual(["mail_address_invalid", {}]);
    }
    expect(server.mails).toEqual([]);
    for (const good of ["a@b", "ada.l+x@example.co.uk", "用户@例子.中国"]) expect(isMailbox(good)).toBe(true);
  });

  test("a subject cannot add a header", async () => {
    const { server, send } = await world({ tls: "none" }, { account: "", from: "post@weir.example" });
    await send({ ...MAIL, subject: "Hello\r\nBcc: evil@example.com\r\n\r\nbody" });
    expect(server.mails[0]?.to).toEqual(["ada@example.com"]);
    expect(server.mails[0]?.raw).not.toMatch(/^Bcc:/m);
  });
});
