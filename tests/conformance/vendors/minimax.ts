/**
 * MiniMax: OpenAI's chat at an address of its own, errors inside 200, speech as digits (platform.minimax.io/docs, read
 * November 2026).
 */
import { expect } from "bun:test";
import { channelType } from "../../../src/shared/channel-types";
import { ordinaryVendor } from "../ordinary";
import { sse, type VendorFake } from "../vendor-fake";

const type = channelType(35);
if (!type) throw new Error("MiniMax is no channel type any more");
const chat = ordinaryVendor(type);
const unauthorized = { base_resp: { status_code: 1004, status_msg: "login fail: Please carry the API secret key" } };
const sound = Buffer.from("ID3 sound");

const speak = (body: Record<string, unknown>) => ({
  model: "speech-2.8-hd",
  input: "Hello",
  voice: "English_Graceful_Lady",
  ...body,
});

export const vendor: VendorFake = {
  ...chat,
  source: "platform.minimax.io/docs/api-reference (text-post, speech-t2a-http, errorcode), November 2026",
  refusal: { model: "unauthorized", kind: "bad_credentials", message: "login fail" },
  calls: [
    {
      name: "speech comes as sound in the format that was asked for",
      path: "/v1/audio/speech",
      body: speak({ response_format: "wav", speed: 1.5, voice_setting: { emotion: "happy" }, language_boost: "auto" }),
      check({ status, text, headers }) {
        expect([status, headers.get("content-type"), text]).toEqual([200, "audio/wav", "ID3 sound"]);
      },
      usage: { prompt: 5, completion: 0 },
    },
    {
      name: "a format that the vendor does not make is the caller's mistake",
      path: "/v1/audio/speech",
      body: speak({ response_format: "aac" }),
      check: ({ status, json }) => expect([status, json.error]).toMatchObject([400, { param: "response_format" }]),
    },
    {
      name: "an error inside a 200 is judged by the vendor's number, and nothing is spoken",
      path: "/v1/audio/speech",
      body: speak({ input: "poor" }),
      check: ({ status, text }) => expect([status, text.includes("insufficient balance")]).toEqual([502, false]),
    },
    {
      name: "an error event of a stream that has not begun is the same refusal",
      path: "/v1/chat/completions",
      body: { model: "limited", stream: true, messages: [{ role: "user", content: "hello" }] },
      check: ({ status }) => expect(status).toBe(429),
    },
    {
      name: "and to a caller of another dialect as well",
      path: "/v1/messages",
      body: { model: "limited", stream: true, max_tokens: 9, messages: [{ role: "user", content: "hello" }] },
      check: ({ status }) => expect(status).toBe(429),
    },
  ],
  answer(asked) {
    const { path, json } = asked;
    if (path === "/v1/t2a_v2") {
      if (json.text === "poor")
        return Response.json({ data: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } });
      expect(json).toEqual({
        model: "speech-2.8-hd",
        text: "Hello",
        stream: false,
        output_format: "hex",
        language_boost: "auto",
        voice_setting: { voice_id: "English_Graceful_Lady", speed: 1.5, emotion: "happy" },
        audio_setting: { format: "wav" },
      });
      return Response.json({
        data: { audio: sound.toString("hex"), status: 2 },
        trace_id: "01b8bf9bb7433cc75c18eee6cfa8fe21",
        extra_info: { audio_length: 5746, audio_format: "wav", usage_characters: 5 },
        base_resp: { status_code: 0, status_msg: "success" },
      });
    }
    if (json.model === "unauthorized") return Response.json(unauthorized);
    if (json.model === "limited")
      return sse({ id: "0", choices: null, base_resp: { status_code: 1002, status_msg: "rate limit" } });
    return chat.answer(asked);
  },
};
