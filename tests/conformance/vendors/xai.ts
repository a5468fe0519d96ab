/**
 * xAI (docs.x.ai/developers/rest-api-reference/inference: chat, responses, images; docs.x.ai/developers/tools, web and
 * X search; November 2026). Live search inside chat calls (search_parameters) answers 410 since it gave way to the
 * tools.
 */
import { expect } from "bun:test";
import { channelType } from "../../../src/shared/channel-types";
import { ordinaryVendor } from "../ordinary";
import { responsesAnswer } from "../responses";
import type { VendorCall, VendorFake } from "../vendor-fake";

const type = channelType(48);
if (!type) throw new Error("no channel type 48");
const ordinary = ordinaryVendor(type);

const SEARCHING = "grok-4.3";
const says = "The news of today.";
const web = [{ type: "web_search" }];
const hello = [{ role: "user", content: "hello" }];

/** The fake's answer lists the tools that it received. */
const searched = (name: string, path: string, body: object, tools: readonly { type: string }[]): VendorCall => ({
  name,
  path,
  body: { model: `${SEARCHING}-search`, ...body },
  check: ({ status, text }) => {
    expect(status).toBe(200);
    expect(text).toContain(`${says} ${tools.map(({ type: tool }) => tool).join("+")}"`);
  },
  usage: { prompt: 19, completion: 10 },
});

const drawn = (name: string, model: string, more: object): VendorCall => ({
  name,
  path: "/v1/images/generations",
  body: { model, prompt: "a cat", n: 1, size: "1024x1792", style: "vivid", quality: "low", aspect_ratio: "1:1" },
  check: ({ status, json }) =>
    expect([status, json.asked]).toEqual([200, { model, prompt: "a cat", n: 1, aspect_ratio: "1:1", ...more }]),
});

export const vendor: VendorFake = {
  ...ordinary,
  source: "docs.x.ai/developers/rest-api-reference/inference, November 2026",
  calls: [
    searched(
      "asks a model with -search behind its name with web search on",
      "/v1/chat/completions",
      { messages: hello },
      web,
    ),
    searched(
      "does so for a stream of another dialect",
      "/v1/messages",
      { max_tokens: 100, stream: true, messages: hello },
      web,
    ),
    searched(
      "adds no search to the caller's own, and keeps his other tools",
      "/v1/responses",
      { input: "hello", tools: [{ type: "x_search" }, { type: "function", name: "f", parameters: {} }] },
      [{ type: "x_search" }, { type: "function" }],
    ),
    drawn("tells nothing of the size and style that its pictures do not have", "grok-2-image-1212", {}),
    drawn("but tells the quality where that is a tier of its price", "grok-imagine-image-2.0", { quality: "low" }),
  ],
  answer(asked) {
    const { path, json } = asked;
    if (path === "/v1/images/generations")
      return Response.json({ created: 1, data: [{ url: "https://imgen.x.ai/a.jpg" }], asked: json });
    if (json.model !== SEARCHING) return ordinary.answer(asked);
    expect([path, asked.headers.get("authorization")]).toEqual(["/v1/responses", `Bearer ${ordinary.key}`]);
    const told = (json.tools as { type: string }[]).map((tool) => tool.type).join("+");
    // A translated call has a list of messages as input.
    if (typeof json.input !== "string")
      expect(json.input).toEqual([{ type: "message", role: "user", content: "hello" }]);
    return responsesAnswer({ ...json, input: "hello" }, SEARCHING, `${says} ${told}`, 19, 10);
  },
};
