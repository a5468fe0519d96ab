/** AI Proxy's knowledge bases: the channel's `other` field names the knowledge base. */
import { bodyOf, withBody } from "./changed-body";
import { ordinary } from "./ordinary";
import type { Provider } from "./provider";

export const aiproxyLibrary: Provider = {
  ...ordinary,
  prepare: (outgoing) => withBody(outgoing, { ...bodyOf(outgoing), libraryId: outgoing.channel.other }),
};
