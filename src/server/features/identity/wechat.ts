/**
 * The WeChat server: a service of the operator that resolves codes to WeChat users. It sends a code to a user who
 * writes to its account; a code lives for three minutes.
 */
import * as z from "zod";
import { fail } from "../../../shared/errors";
import type { Services } from "../../contracts/context";
import { egressFetch } from "../../lib/egress";
import type { ProvenPerson } from "./oauth";

const TIMEOUT_MS = 5000;
const answer = z.object({ success: z.boolean(), message: z.string().default(""), data: z.string().default("") });

/** The WeChat user of a code. Throws wechat_code_wrong for one that the server does not know (any more). */
export async function wechatPerson({ options }: Pick<Services, "options">, code: string): Promise<ProvenPerson> {
  const url = `${options.get("WeChatServerAddress")}/api/wechat/user?code=${encodeURIComponent(code)}`;
  const headers = { authorization: options.get("WeChatServerToken"), accept: "application/json" };
  const { status, text } = await egressFetch(url, {
    headers,
    allowPrivate: true,
    timeoutMs: TIMEOUT_MS,
    maxRedirects: 0,
  });
  if (status !== 200) throw new Error(`HTTP ${status}`);
  const { success, data } = answer.parse(JSON.parse(text));
  if (!success || data === "") fail("wechat_code_wrong");
  return { subject: data, name: "" };
}
