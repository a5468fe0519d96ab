/** Baidu Qianfan, generation 2 (cloud.baidu.com/doc/qianfan-api/s/3m7of64lb, November 2026). */
import { expect } from "bun:test";
import { channelType } from "../../../src/shared/channel-types";
import { ordinaryVendor } from "../ordinary";
import type { VendorCall, VendorFake } from "../vendor-fake";

const type = channelType(46);
if (!type) throw new Error("no channel type 46");
const ordinary = ordinaryVendor(type);
const messages = [{ role: "user", content: "hello" }];
const search = { enable: true, enable_citation: true, enable_trace: true };

const searching = (name: string, more: object, searched: object): VendorCall => ({
  name,
  path: "/v1/chat/completions",
  body: { model: "m-search", messages, ...more },
  check: ({ status, json }) => expect([status, json.searched]).toEqual([200, searched]),
});

export const vendor: VendorFake = {
  ...ordinary,
  source: "cloud.baidu.com/doc/qianfan-api/s/3m7of64lb, November 2026",
  key: "bce-v3/key|app-7",
  calls: [
    searching("asks a model with -search behind its name with web search on", {}, search),
    searching("leaves the caller's own search as it is", { web_search: { enable: false } }, { enable: false }),
  ],
  async answer(call) {
    const { headers, json } = call;
    expect([headers.get("authorization"), headers.get("appid")]).toEqual(["Bearer bce-v3/key", "app-7"]);
    headers.set("authorization", `Bearer ${ordinary.key}`);
    const response = await ordinary.answer(call);
    if (json.web_search === undefined) return response;
    return Response.json({ ...((await response.json()) as object), searched: json.web_search });
  },
};
