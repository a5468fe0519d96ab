/** The language of Dify's applications, assembled. */
import { limitedTo } from "../shared/limited";
import type { VendorDialect } from "../vendor-dialect";
import { decodeAnswer, readError } from "./answer";
import { encodeRequest } from "./request-encode";
import { DifyStreamDecoder } from "./stream-decode";
import { requestSupport } from "./support";

export const difyDialect: VendorDialect = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new DifyStreamDecoder(id),
  readError,
  requestSupport,
  features: limitedTo(
    "an application is asked one question; its model, tools and parameters are set where it is built",
    {
      text: true,
      system_prompt: { partly: "as words of the question" },
      mid_system: { partly: "as words of the question" },
      images: true,
      image_urls: true,
      audio_in: true,
      image_out: { partly: "pictures of an agent's tools, by their address" },
      files: true,
      file_urls: true,
      refusals: { no: "an application declines in plain text" },
      user_name: true,
      usage: { partly: "a workflow tells one sum, taken as input" },
      errors_in_stream: true,
    },
  ),
};
