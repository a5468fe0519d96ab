import { expect, test } from "bun:test";
import { responseTimeColor } from "./response-time";

test("the response time's colour changes right after 1, 3 and 5 seconds; 0 is untested (C-335 to C-339)", () => {
  const colors = [0, 1, 1000, 1001, 3000, 3001, 5000, 5001].map(responseTimeColor);
  // spec: C-335..C-339
  expect(colors).toEqual(["neutral", "green", "green", "lime", "lime", "yellow", "yellow", "red"]);
});
