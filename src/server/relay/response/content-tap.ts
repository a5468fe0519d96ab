/**
 * The content of calls, for operators who keep it: the beginning of the request and of the response, sampled in
 * transit. The bytes are neither changed nor delayed; while contents are not kept there is no tap.
 */
import { TEXT_LIMITS } from "../../../shared/text-limits";
import type { Asked } from "../call/call";
import type { Bytes } from "../../lib/sse";
import type { Sample } from "../../contracts/content-capture";

/** Bytes kept of each side. */
const MOST = TEXT_LIMITS.call_content;

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

const isText = (contentType: string): boolean => /^(text\/|application\/(json|x-ndjson))/.test(contentType);

class Sampler {
  readonly #chunks: Uint8Array[] = [];
  #kept = 0;
  #size = 0;

  push(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (this.#kept >= MOST) return;
    // A copy: the bytes belong to a larger buffer, or to another owner.
    const part = chunk.slice(0, MOST - this.#kept);
    this.#kept += part.length;
    this.#chunks.push(part);
  }

  sample(note = ""): Sample {
    return { text: note || Buffer.concat(this.#chunks).toString("utf8"), size: this.#size };
  }
}

function sampleOf(body: Bytes): Sample {
  const sampler = new Sampler();
  sampler.push(body);
  return sampler.sample();
}

/** Samples the response of one call. */
export class ContentTap {
  readonly #keep: (response: Sample) => void;

  private constructor(keep: (response: Sample) => void) {
    this.#keep = keep;
  }

  /** undefined while contents are not kept. Called before the first attempt: the content is still in memory. */
  static of({ engine, form, content, request_id, caller }: Asked): ContentTap | undefined {
    const keep = engine.controlPlane.keepContent;
    if (!keep) return undefined;
    const request = form ? { text: `[${form.content_type.split(";", 1)[0]}]`, size: 0 } : sampleOf(content.bytes);
    return new ContentTap((response) => keep({ request_id, user_id: caller.user_id }, request, response));
  }

  /** The same body, sampled in transit; of media only the size. */
  take<B extends Body>(body: B, contentType: string): B | ReadableStream<Uint8Array> {
    const sampler = new Sampler();
    const note = isText(contentType) ? "" : `[${contentType}]`;
    if (!(body instanceof ReadableStream)) {
      sampler.push(typeof body === "string" ? Buffer.from(body) : body);
      this.#keep(sampler.sample(note));
      return body;
    }
    const reader = body.getReader();
    let over = false;
    const end = () => {
      if (!over) this.#keep(sampler.sample(note));
      over = true;
    };
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read();
            if (!done) {
              sampler.push(value);
              return controller.enqueue(value);
            }
            end();
            controller.close();
          } catch (error) {
            end();
            controller.error(error);
          }
        },
        cancel: (reason) => {
          end();
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }
}
