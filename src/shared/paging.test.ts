import { expect, test } from "bun:test";
import { auditListInput } from "./audit";
import { channelListInput, channelListRest } from "./channel";
import { incidentListInput } from "./incidents";
import { logListRest, logOwnPageInput, logPageInput } from "./log-list";
import { redemptionPage, redemptionSearch } from "./redemption";
import { drawingListInput, taskListInput } from "./task-list";
import { tokenListInput } from "./token";
import { userListInput, userListRest } from "./user-manage";

test("the console may ask for 500 rows of every list and no more, programs get 100 (C-482)", () => {
  const own = [
    auditListInput,
    channelListInput,
    drawingListInput,
    logOwnPageInput,
    logPageInput,
    redemptionPage,
    taskListInput,
    tokenListInput,
    userListInput,
  ];
  for (const input of own) {
    expect(input.parse({ page_size: 500 }).page_size).toBe(500);
    expect(input.safeParse({ page_size: 501 }).success).toBe(false);
  }
  expect([500, 501, 0].map((page_size) => incidentListInput.parse({ page_size }).page_size)).toEqual([500, 500, 10]);
  for (const rest of [channelListRest, logListRest, redemptionSearch, userListRest])
    expect(rest.parse({ page_size: 500 }).page_size).toBe(100);
});
