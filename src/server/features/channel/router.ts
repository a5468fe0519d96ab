/** Routes of channels. Administrators only, but for the registry's model lists, which every form needs. */
import {
  channelCopy,
  channelCreate,
  channelCreateRest,
  channelDraftTest,
  channelId,
  channelListInput,
  channelListRest,
  channelSearchRest,
  channelStatus,
  channelTestInput,
  channelUpdate,
  createdChannel,
  fetchModelsInput,
} from "../../../shared/channel";
import { keyManage, keysAdd, keysOf, keysRemove, keysStatus } from "../../../shared/channel-keys";
import {
  batchEdit,
  batchInput,
  batchStatus,
  batchTag,
  healthInput,
  runInput,
  tagEdit,
  tagInput,
  tagPageInput,
} from "../../../shared/channel-operations";
import { channelHistoryInput, channelRestoreInput } from "../../../shared/history";
import { drainChannelInput, drainKeyInput, keyInput } from "../../../shared/drain";
import { keyRotateInput } from "../../../shared/key-rotation";
import { dryRunInput } from "../../../shared/dry-run";
import { adminProcedure, rootProcedure, router, userProcedure } from "../../http/trpc";
import { updateAllBalances, updateBalance } from "./balance";
import { deleteChannels, deleteDisabled, editChannels, editTag, setStatus, setTag, setTagStatus } from "./batch";
import { channelDrain, drainChannel, drainKey, resumeChannel, resumeKey } from "./drain";
import { testDraft } from "./draft";
import { dryRun } from "./dry-run";
import { testChannel } from "./health";
import { channelHistory, restoreChannel } from "./history";
import { allModels, fetchModelsFrom, fetchModelsOf, modelsByType } from "./models";
import { addKeys, listKeys, removeKeys, setKeyStatus } from "./keys";
import { repairChannels } from "./repair";
import { rotateKey } from "./rotate";
import { readRun } from "./runs";
import { copyChannel, createChannels, deleteChannel, getChannel, revealKeys, updateChannel } from "./service";
import { countByStatus, listTags, modelsOfTag, pageChannels, pageTags, restPage } from "./list";
import { manageKeys, withInfo } from "./multi-key";
import { testAll } from "./test-all";
import { channelHealth, upstreamUse } from "./usage";

export const channelRouter = router({
  /** The console's list: filters and search in one, a page with its total. */
  list: adminProcedure.input(channelListInput).query(({ ctx, input }) => pageChannels(ctx, input)),

  listRest: adminProcedure
    .meta({ rest: "GET /api/channel/", summary: "Channels", answer: "list" })
    .input(channelListRest)
    .query(async ({ ctx, input }) => {
      const page = await restPage(ctx, input);
      return { ...page, items: await withInfo(ctx, page.items) };
    }),

  search: adminProcedure
    .meta({
      rest: "GET /api/channel/search",
      summary: "Channels by id, name, whole key, group and model",
      answer: "list",
    })
    .input(channelSearchRest)
    .query(async ({ ctx, input }) => {
      const page = await restPage(ctx, input);
      return { ...page, items: await withInfo(ctx, page.items) };
    }),

  /** The console's tag mode: tags with their channels, then the channels without a tag, as one paged list. */
  tagPage: adminProcedure.input(tagPageInput).query(({ ctx, input }) => pageTags(ctx, input)),

  /** Every tag in use. */
  tags: adminProcedure.query(({ ctx }) => listTags(ctx)),

  /** status -> number of channels. */
  statusCounts: adminProcedure.query(({ ctx }) => countByStatus(ctx)),

  /** Channel id -> its last 24 hours, oldest first. */
  health: adminProcedure.input(healthInput).query(({ ctx, input }) => channelHealth(ctx, input.ids)),

  /** Models of the enabled channels, any group. */
  modelsEnabled: adminProcedure
    .meta({ rest: "GET /api/channel/models_enabled", summary: "Names of the models that enabled channels serve" })
    .query(({ ctx }) => [...ctx.pool.enabledModels()]),

  models: adminProcedure
    .meta({ rest: "GET /api/channel/models", summary: "Every known model" })
    .query(({ ctx }) => allModels(ctx)),

  modelsByType: userProcedure
    .meta({ rest: "GET /api/models", summary: "Default models of each channel type" })
    .query(() => modelsByType()),

  fetchModelsOf: adminProcedure
    .meta({ rest: "GET /api/channel/fetch_models/{id}", summary: "The model list of a channel's upstream" })
    .input(channelId)
    .query(({ ctx, input }) => fetchModelsOf(ctx, input.id)),

  fetchModelsFrom: adminProcedure
    .meta({
      silent: true,
      rest: "POST /api/channel/fetch_models",
      summary: "The model list behind an address and a key",
    })
    .input(fetchModelsInput)
    .mutation(({ ctx, input }) => fetchModelsFrom(ctx, input)),

  /** Where a call would go, and why; nothing is called. */
  dryRun: adminProcedure
    .meta({ rest: "GET /api/channel/dry_run", summary: "Where a call of a model would go, and why" })
    .input(dryRunInput)
    .query(({ ctx, input }) => dryRun(ctx, input)),

  keys: adminProcedure
    .meta({
      rest: "GET /api/channel/{id}/keys",
      summary: "The keys of a channel that has several: states, never their text",
    })
    .input(keysOf)
    .query(({ ctx, input }) => listKeys(ctx, input.id)),

  addKeys: adminProcedure
    .meta({
      once: true,
      rest: "POST /api/channel/{id}/keys",
      summary: "Adds keys to a channel that has several, one per line",
    })
    .input(keysAdd)
    .mutation(({ ctx, input }) => addKeys(ctx, input.id, input.key)),

  revealKeys: rootProcedure
    .meta({
      rest: "POST /api/channel/{id}/key",
      summary: "A channel's keys in clear, one per line, where the option ChannelKeyRevealEnabled allows it",
      critical: true,
    })
    .input(channelId)
    .mutation(({ ctx, input }) => revealKeys(ctx, input.id)),

  removeKeys: adminProcedure
    .meta({ rest: "DELETE /api/channel/{id}/keys", summary: "Removes keys of a channel; the last one stays" })
    .input(keysRemove)
    .mutation(({ ctx, input }) => removeKeys(ctx, input.id, input.key_ids)),

  setKeyStatus: adminProcedure
    .meta({ rest: "PUT /api/channel/{id}/keys", summary: "Enables or disables keys of a channel" })
    .input(keysStatus)
    .mutation(({ ctx, input }) => setKeyStatus(ctx, input.id, input.key_ids, input.status)),

  test: adminProcedure
    .meta({
      once: true,
      rest: "GET /api/channel/test/{id}",
      summary: "Test a channel; `time` in seconds",
      answer: "top",
    })
    .input(channelTestInput)
    .mutation(({ ctx, input }) => testChannel(ctx, input.id, input.model)),

  testDraft: adminProcedure
    .meta({
      silent: true,
      rest: "POST /api/channel/test_draft",
      summary: "Test a channel that is not saved; nothing is stored, masked secrets are those of `id`",
      answer: "top",
    })
    .input(channelDraftTest)
    .mutation(({ ctx, input }) => testDraft(ctx, input)),

  rotateKey: adminProcedure
    .meta({
      once: true,
      rest: "POST /api/channel/{id}/rotate_key",
      summary: "Test a new key, let both serve for a while, then end the old one",
    })
    .input(keyRotateInput)
    .mutation(({ ctx, input }) => rotateKey(ctx, input)),

  get: adminProcedure.input(channelId).query(({ ctx, input }) => getChannel(ctx, input.id)),

  getRest: adminProcedure
    .meta({ rest: "GET /api/channel/{id}", summary: "One channel, without its key" })
    .input(channelId)
    .query(async ({ ctx, input }) => (await withInfo(ctx, [await getChannel(ctx, input.id)]))[0]),

  create: adminProcedure
    .meta({ once: true })
    .input(channelCreate)
    .mutation(({ ctx, input }) => createChannels(ctx, input)),

  /** One channel per line of the key. Old clients ignore the answer. */
  createRest: adminProcedure
    .meta({ once: true, rest: "POST /api/channel/", summary: "Create channels, one per line of the key" })
    .input(channelCreateRest)
    .mutation(({ ctx, input }) => createChannels(ctx, createdChannel(input))),

  copy: adminProcedure
    .meta({ once: true, rest: "POST /api/channel/copy/{id}", summary: "Copy a channel with its keys" })
    .input(channelCopy)
    .mutation(({ ctx, input }) => copyChannel(ctx, input.id, input.suffix)),

  setStatus: adminProcedure
    .meta({ rest: "POST /api/channel/{id}/status", summary: "Enable (1) or disable (2) a channel" })
    .input(channelStatus)
    .mutation(({ ctx, input }) => updateChannel(ctx, input)),

  drain: adminProcedure
    .meta({
      rest: "POST /api/channel/{id}/drain",
      summary: "A channel gets no new calls; those that run may end, for `seconds` at most (0 = no limit)",
    })
    .input(drainChannelInput)
    .mutation(({ ctx, input }) => drainChannel(ctx, input.id, input.seconds)),

  drainState: adminProcedure
    .meta({ rest: "GET /api/channel/{id}/drain", summary: "What a channel's drain still waits for" })
    .input(channelId)
    .query(({ ctx, input }) => channelDrain(ctx, input.id)),

  resume: adminProcedure
    .meta({ rest: "POST /api/channel/{id}/resume", summary: "A drained channel gets calls again" })
    .input(channelId)
    .mutation(({ ctx, input }) => resumeChannel(ctx, input.id)),

  drainKey: adminProcedure
    .meta({ rest: "POST /api/channel/{id}/keys/{key_id}/drain", summary: "One key of a channel gets no new calls" })
    .input(drainKeyInput)
    .mutation(({ ctx, input }) => drainKey(ctx, input.id, input.key_id, input.seconds)),

  resumeKey: adminProcedure
    .meta({ rest: "POST /api/channel/{id}/keys/{key_id}/resume", summary: "A drained key gets calls again" })
    .input(keyInput)
    .mutation(({ ctx, input }) => resumeKey(ctx, input.id, input.key_id)),

  manageKeys: adminProcedure
    .meta({
      once: true,
      rest: "POST /api/channel/multi_key/manage",
      summary: "Read or change the keys of a channel that has several, by their index",
    })
    .input(keyManage)
    .mutation(({ ctx, input }) => manageKeys(ctx, input)),

  modelsOfTag: adminProcedure
    .meta({ rest: "GET /api/channel/tag/models", summary: "Models of the tag's channel that has the most" })
    .input(tagInput)
    .query(({ ctx, input }) => modelsOfTag(ctx, input.tag)),

  update: adminProcedure
    .meta({ rest: "PUT /api/channel/", summary: "Change the fields that are sent" })
    .input(channelUpdate)
    .mutation(({ ctx, input }) => updateChannel(ctx, input)),

  history: adminProcedure
    .meta({ rest: "GET /api/channel/{id}/history", summary: "What people changed of a channel, newest first" })
    .input(channelHistoryInput)
    .query(({ ctx, input }) => channelHistory(ctx, input.id, input.cursor)),
  restore: adminProcedure
    .meta({ rest: "POST /api/channel/{id}/restore", summary: "Put back what a channel was before a change; keys stay" })
    .input(channelRestoreInput)
    .mutation(({ ctx, input }) => restoreChannel(ctx, input.id, input.entry)),

  delete: adminProcedure
    .meta({ rest: "DELETE /api/channel/{id}", summary: "Delete a channel" })
    .input(channelId)
    .mutation(({ ctx, input }) => deleteChannel(ctx, input.id)),

  deleteDisabled: adminProcedure
    .meta({ rest: "DELETE /api/channel/disabled", summary: "Delete every disabled channel; how many" })
    .mutation(({ ctx }) => deleteDisabled(ctx)),

  batchDelete: adminProcedure
    .meta({ rest: "POST /api/channel/batch", summary: "Delete channels by id; how many" })
    .input(batchInput)
    .mutation(({ ctx, input }) => deleteChannels(ctx, input.ids)),

  batchTag: adminProcedure
    .meta({ rest: "POST /api/channel/batch/tag", summary: "Set the tag of channels, null removes it; how many" })
    .input(batchTag)
    .mutation(({ ctx, input }) => setTag(ctx, input.ids, input.tag)),

  batchStatus: adminProcedure.input(batchStatus).mutation(({ ctx, input }) => setStatus(ctx, input.ids, input.status)),

  /** The fields of the tag dialog, on selected channels. */
  batchEdit: adminProcedure
    .input(batchEdit)
    .mutation(({ ctx, input: { ids, ...edits } }) => editChannels(ctx, ids, edits)),

  tagEdit: adminProcedure
    .meta({ rest: "PUT /api/channel/tag", summary: "Change every channel of a tag; how many" })
    .input(tagEdit)
    .mutation(({ ctx, input }) => editTag(ctx, input)),

  tagEnable: adminProcedure
    .meta({ rest: "POST /api/channel/tag/enabled", summary: "Enable every channel of a tag; how many" })
    .input(tagInput)
    .mutation(({ ctx, input }) => setTagStatus(ctx, input.tag, 1)),

  tagDisable: adminProcedure
    .meta({ rest: "POST /api/channel/tag/disabled", summary: "Disable every channel of a tag; how many" })
    .input(tagInput)
    .mutation(({ ctx, input }) => setTagStatus(ctx, input.tag, 2)),

  /** What was corrected, and what only an operator can correct. */
  repair: adminProcedure.mutation(({ ctx }) => repairChannels(ctx)),

  /** The REST answer is the number of channels checked. */
  fix: adminProcedure
    .meta({ rest: "POST /api/channel/fix", summary: "Repair stored channels and rebuild the routing; how many" })
    .mutation(async ({ ctx }) => (await repairChannels(ctx)).checked),

  testAll: adminProcedure
    .meta({
      once: true,
      rest: "GET /api/channel/test",
      summary: "Start a test of all channels that are not disabled by hand",
    })
    .mutation(({ ctx }) => testAll(ctx)),

  /** What today's channel page wants to know of the relay. */
  ops: adminProcedure
    .meta({ rest: "GET /api/channel/ops", summary: "How often a failed call is tried on another channel" })
    .query(({ ctx }) => ({ retry_times: ctx.options.get("RetryTimes") })),

  /** How far a run over all channels is, or how the last one ended; null before the first. */
  run: adminProcedure.input(runInput).query(async ({ ctx, input }) => (await readRun(ctx, input.kind)) ?? null),

  updateBalance: adminProcedure
    .meta({ rest: "GET /api/channel/update_balance/{id}", summary: "Ask for a channel's balance", answer: "top" })
    .input(channelId)
    .mutation(({ ctx, input }) => updateBalance(ctx, input.id)),

  updateBalances: adminProcedure
    .meta({ rest: "GET /api/channel/update_balance", summary: "Ask for the balances of all enabled channels" })
    .mutation(({ ctx }) => updateAllBalances(ctx)),

  /** Who used a channel: groups, and the programs that called. */
  upstreamUse: adminProcedure.input(channelId).query(({ ctx, input }) => upstreamUse(ctx, input.id)),

  /** The same over REST: at the top level as the API documents it, and under `data` as everywhere else. */
  upstreamUseRest: adminProcedure
    .meta({ rest: "GET /api/channel/test_upstream/{id}", summary: "Who used a channel", answer: "top" })
    .input(channelId)
    .query(async ({ ctx, input }) => {
      const use = await upstreamUse(ctx, input.id);
      return { ...use, data: use };
    }),
});
