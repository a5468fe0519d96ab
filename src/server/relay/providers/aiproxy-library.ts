/** AI Proxy's knowledge bases: the channel names which one is asked (facts: `other`). */
import { bodyOf, withBody } from "./changed-body";
import { ordinary } from "./ordinary";
import type { Provider } from "./provider";

export const aiproxyLibrary: Provider = {
  ...ordinary,
  prepare: (outgoing) => withBody(outgoing, { ...bodyOf(outgoing), libraryId: outgoing.channel.other }),
};
