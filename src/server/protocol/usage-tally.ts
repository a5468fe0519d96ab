/** What a streamed answer has said of its usage so far, and how much content came with it. */
import type { Usage } from "./chat-events";
import { countsOutput, withSide } from "./usage-check";

export class UsageTally {
  /** The last usage that came: final values win, but a count of output is not lost to one that does not count it. */
  usage: Usage | undefined;
  /** Bytes of generated content: text, thoughts, arguments of calls. */
  contentBytes = 0;
  /** Those of them that came before the output was last counted. */
  countedBytes = 0;

  /** A frame counts tokens; its own content is in `contentBytes` already. */
  add(usage: Usage): void {
    if (countsOutput(usage)) {
      this.usage = usage;
      this.countedBytes = this.contentBytes;
    } else {
      // A count that came before any content counted none of it.
      const earlier = this.countedBytes === 0 && this.contentBytes > 0 ? undefined : this.usage;
      this.usage = earlier ? withSide(usage, "output", earlier) : usage;
    }
  }
}
