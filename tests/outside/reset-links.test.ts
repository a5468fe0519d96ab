/** A stranger who knows an address cannot spoil the reset links that were mailed to it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { type MailServer, startMailServer } from "../kit/mail-server";
import { until } from "../kit/until";
import { startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(HOOK_MS);

describe.each(ENGINES)("a reset link on %s", (engine) => {
  let weir: Weir;
  let post: MailServer;
  beforeAll(async () => {
    post = await startMailServer({ tls: "none" });
    weir = await startWeir({ engine });
    const options = {
      SMTPServer: "127.0.0.1",
      SMTPPort: String(post.port),
      SMTPFrom: "weir@weir.example",
      ServerAddress: "https://gateway.example",
    };
    for (const [key, value] of Object.entries(options)) await weir.setOption(key, value);
  }, HOOK_MS);
  afterAll(async () => {
    await weir?.stop();
    await post?.close();
  });

  const codes = () => weir.db.t.codes;
  let people = 0;
  /** The address of a new account. */
  async function newAddress(): Promise<string> {
    const email = `person${++people}@weir.example`;
    const user = await weir.newUser();
    await weir.db.q.update(weir.db.t.users).set({ email }).where(eq(weir.db.t.users.id, user.id));
    return email;
  }
  const ask = async (email: string) =>
    (await weir.anonymous("GET", `/api/reset_password?email=${encodeURIComponent(email)}`)).body;
  const use = async (email: string, token: string) =>
    (await weir.anonymous("POST", "/api/user/reset", { email, token })).body;
  /** The pause between two mails has passed. */
  const wait = () => weir.db.q.update(codes()).set({ created_at: 0 });
  /** Asks for a link and returns its token. */
  async function mailed(email: string): Promise<string> {
    const known = post.mails.length;
    await wait();
    expect(await ask(email)).toMatchObject({ success: true });
    const found = () => post.mails.slice(known).find(({ to }) => to.includes(email));
    await until("the mail comes", () => found() !== undefined);
    const raw = found()?.raw.replaceAll("=\r\n", "").replaceAll("=3D", "=") ?? "";
    return /token=([A-Za-z0-9]+)/.exec(raw)?.[1] ?? "";
  }

  test("outlives any number of wrong guesses", async () => {
    const email = await newAddress();
    const token = await mailed(email);
    for (let i = 0; i < 60; i++)
      expect(await use(email, "x".repeat(40))).toMatchObject({ success: false, code: "reset_link_invalid" });
    expect(await use(email, token)).toMatchObject({ success: true });
  });

  test("works though another one was asked for; all of them end with the one that is used", async () => {
    const email = await newAddress();
    const tokens = [await mailed(email), await mailed(email), await mailed(email)];
    expect(new Set(tokens).size).toBe(3);
    expect(await use(email, tokens[1] ?? "")).toMatchObject({ success: true });
    for (const token of tokens) expect(await use(email, token)).toMatchObject({ code: "reset_link_invalid" });
  });

  test("of several that are used at once, one sets a password", async () => {
    const email = await newAddress();
    const tokens = [await mailed(email), await mailed(email)];
    const answers = await Promise.all([...tokens, ...tokens].map((token) => use(email, token)));
    expect(answers.filter(({ success }) => success)).toHaveLength(1);
  });

  test("is mailed once in a pause, however many ask at once", async () => {
    const email = await newAddress();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(email)));
    expect(answers.filter(({ success }) => success)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === "mail_too_soon")).toHaveLength(7);
  });

  test("expires by its own time, and is no other address's", async () => {
    const [email, other] = [await newAddress(), await newAddress()];
    const old = await mailed(email);
    await weir.db.q.update(codes()).set({ expires_at: 0 });
    const young = await mailed(email);
    expect(await use(other, young)).toMatchObject({ code: "reset_link_invalid" });
    expect(await use(email, old)).toMatchObject({ code: "reset_link_invalid" });
    expect(await use(email, young)).toMatchObject({ success: true });
  });
});
