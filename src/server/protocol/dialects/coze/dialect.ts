/** The language of Coze's bots, assembled. */
import { limitedTo } from "../shared/limited";
import type { VendorDialect } from "../vendor-dialect";
import { decodeAnswer, readError } from "./answer";
import { encodeRequest } from "./request-encode";
import { CozeStreamDecoder } from "./stream-decode";
import { requestSupport } from "./support";

export const cozeDialect: VendorDialect = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new CozeStreamDecoder(id),
  readError,
  requestSupport,
  features: limitedTo("a bot's model, tools and parameters are set where it is built", {
    text: true,
    system_prompt: { partly: "as a message of the user" },
    mid_system: { partly: "as a message of the user" },
    images: { partly: "by a public address; bytes would have to be uploaded first" },
    image_urls: true,
    audio_in: { partly: "by a public address; bytes would have to be uploaded first" },
    files: { partly: "by a public address; bytes would have to be uploaded first" },
    file_urls: true,
    reasoning_text: true,
    refusals: { no: "a bot declines in plain text" },
    user_name: true,
    usage: true,
    errors_in_stream: true,
  }),
};
