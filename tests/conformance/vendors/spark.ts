/** iFlytek Spark (xfyun.cn/doc/spark/Web.html and general_url_authentication.html, November 2026). */
import { expect } from "bun:test";
import { sparkAddress } from "../../../src/server/relay/providers/spark";
import type { VendorFake } from "../vendor-fake";

const says = "我可以帮助你的吗？";
const header = { code: 0, message: "Success", sid: "cht000cb087@dx18793cd421fb894542" };
const frame = (status: number, content: string, more: object = {}): string =>
  JSON.stringify({
    header: { ...header, status },
    payload: { choices: { status, seq: status, text: [{ content, role: "assistant", index: 0 }] }, ...more },
  });

export const vendor: VendorFake = {
  types: ["spark"],
  source: "xfyun.cn/doc/spark/Web.html, November 2026",
  key: "my-app|my-secret|my-key",
  other: "v3.1",
  scheme: "ws",
  model: "generalv3.5",
  chat: { says, prompt: 5, completion: 9 },
  // No domain of its own: the version that the channel names.
  refusal: { model: "none", kind: "bad_credentials", message: "AppIdNoAuthError" },
  // After a refused handshake the reason is requested over HTTP.
  answer: () => Response.json({ message: "HMAC signature cannot be verified" }, { status: 401 }),
  message(text, url, send, close) {
    const date = String(url.searchParams.get("date"));
    const address = `ws://${url.host}${url.pathname}`;
    // The proof itself is checked against the vendor's example in providers/spark.test.ts.
    expect(new URL(sparkAddress(address, "my-key", "my-secret", Date.parse(date))).search).toBe(url.search);
    expect(Math.abs(Date.now() - Date.parse(date))).toBeLessThan(300_000);
    const asked = JSON.parse(text) as { parameter: { chat: { domain: string } } };
    if (url.pathname === "/v3.1/chat") {
      expect(asked.parameter.chat.domain).toBe("generalv3");
      send(JSON.stringify({ header: { ...header, code: 11200, message: "AppIdNoAuthError", status: 2 } }));
      return close();
    }
    expect(url.pathname).toBe("/v3.5/chat");
    expect(asked).toMatchObject({
      header: { app_id: "my-app" },
      parameter: { chat: { domain: "generalv3.5" } },
      payload: { message: { text: [{ role: "user", content: "hello" }] } },
    });
    send(frame(0, says.slice(0, 3)));
    send(frame(1, says.slice(3)));
    send(
      frame(2, "", {
        usage: { text: { question_tokens: 4, prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 } },
      }),
    );
    close();
  },
};
