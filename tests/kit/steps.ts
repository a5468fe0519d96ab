/** Stories with counted steps: how many presses a person needs from what they see to what they want. */
import type { Locator } from "playwright-core";

export interface Story {
  /** A press of the pointer, which counts. Typing and pasting do not: what is asked for is asked for once. */
  click(target: Locator): Promise<void>;
  readonly steps: number;
}

export function newStory(): Story {
  let steps = 0;
  return {
    async click(target) {
      steps += 1;
      await target.click();
    },
    get steps() {
      return steps;
    },
  };
}
