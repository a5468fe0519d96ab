/**
 * The test of a channel as its form has it: nothing is stored, and a stored secret goes only where the stored channel
 * would take it.
 */
import { getTableColumns } from "drizzle-orm";
import type * as z from "zod";
import { type channelDraftTest, type ChannelTestResult, splitKeys } from "../../../shared/channel";
import { channelType } from "../../../shared/channel-types";
import { AppError, errorText, fail } from "../../../shared/errors";
import type { PoolChannel } from "../../contracts/channel";
import type { Ctx } from "../../contracts/context";
import type { ChannelRow } from "../../db/schema";
import { vendorRules } from "../option/vendor-rules";
import { goesElsewhere, holdsKey } from "./destination";
import { modelToTest, TEST_TIMEOUT_MS } from "./health";
import { checkedKeys, loadChannel } from "./keys";
import { probe } from "./probe";
import { keepsHeader, sealColumns } from "./sealed";
import { columnsOf, findChannel, refuse, sealKey } from "./service";

type Draft = z.output<typeof channelDraftTest>;

/** A row of nothing but defaults. */
function blankRow({ db }: Pick<Ctx, "db">): ChannelRow {
  const columns = Object.entries(getTableColumns(db.t.channels)).map(([name, { default: value, dataType }]) => [
    name,
    value ?? (dataType === "string" ? "" : 0),
  ]);
  return Object.fromEntries(columns) as ChannelRow; // every column, each of its kind
}

/**
 * The row that saving the form would write; a masked secret is the stored one. Throws what saving throws:
 * channel_not_found, channel_key_required, channel_headers_required and the faults of fields.
 */
async function rowOf(ctx: Ctx, { id, model: _model, ...fields }: Draft): Promise<ChannelRow> {
  const stored = id === undefined ? undefined : await findChannel(ctx, id);
  const before = stored ?? blankRow(ctx);
  const type = fields.type ?? before.type;
  const text = fields.key ?? "";
  const has_key = before.key_cipher !== "" || before.multi_key_mode !== "";
  // Only what a call needs: a form that is half filled in may have no name yet.
  refuse(ctx, { ...before, ...fields, key: text, has_key }, new Set(CALLED));
  const [key] = fields.multi_key_mode ? checkedKeys(ctx, type, text) : splitKeys(type, text);
  const row: ChannelRow = {
    ...before,
    ...sealColumns(ctx, columnsOf(fields, type), stored),
    type,
    multi_key_mode: before.multi_key_mode,
  };
  const elsewhere = stored !== undefined && goesElsewhere(ctx.secrets, stored, row);
  if (elsewhere && key === undefined && holdsKey(ctx.secrets, stored)) fail("channel_key_required");
  if (elsewhere && keepsHeader(ctx.secrets, stored, row)) fail("channel_headers_required");
  return key === undefined ? row : { ...row, multi_key_mode: "", ...sealKey(ctx, key) };
}

/** Fields that a call is made of. */
const CALLED = ["type", "base_url", "other", "key", "setting", "param_override", "header_override", "model_mapping"];

/**
 * Tests a channel that is not saved. As the test of a stored one: whatever the upstream does is an answer. A fault of
 * the form is one as well.
 */
export async function testDraft(ctx: Ctx, draft: Draft): Promise<ChannelTestResult> {
  try {
    const row = await rowOf(ctx, draft);
    if (!channelType(row.type)?.test) fail("channel_test_unsupported");
    const model = modelToTest(row, draft.model);
    const channel: PoolChannel = (await loadChannel(ctx, row, model)) ?? fail("channel_key_unreadable");
    const started = performance.now();
    const { problem } = await probe(channel, model, TEST_TIMEOUT_MS, undefined, vendorRules(ctx.options));
    const time = Math.max(1, Math.round(performance.now() - started)) / 1000;
    return {
      success: problem === "",
      message: problem && errorText("channel_test_failed", { detail: problem }, ctx.lang),
      time,
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { success: false, message: errorText(error.code, error.values, ctx.lang), time: 0 };
  }
}
