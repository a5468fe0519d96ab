/**
 * Fills a field like a person. Playwright's `fill` sets the whole value with one event, so a field that loses keys
 * passes: tests of the console use these two instead (oxlint refuses `fill` there).
 */
import type { Locator } from "playwright-core";

/** Replaces the field's text: a click, select all, then key by key. An empty text empties the field. */
export async function type(field: Locator, text: string): Promise<void> {
  await selectAll(field);
  if (text === "") await field.press("Delete");
  else await field.pressSequentially(text);
}

/** Replaces the field's text with one insertion, as from the clipboard: for keys, and for texts of several lines. */
export async function paste(field: Locator, text: string): Promise<void> {
  await selectAll(field);
  await field.page().keyboard.insertText(text);
}

async function selectAll(field: Locator): Promise<void> {
  await field.click();
  await field.press("ControlOrMeta+a");
}
