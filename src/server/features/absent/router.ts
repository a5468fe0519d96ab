/**
 * What a page of today's new-api front-end asks for by being opened, where Weir has no such feature: an answer that is
 * empty or says off, so that the page shows nothing instead of an error. Shapes are those of new-api (controller/*.go,
 * read 2026-11). Calls behind a button are 404: nothing that changes something may seem to have worked.
 */
import { adminProcedure, publicProcedure, rootProcedure, router, userProcedure } from "../../http/trpc";
import type { RouteMeta } from "../../http/trpc";

const off = (path: string, feature: string): RouteMeta => ({
  rest: `GET /api/${path}`,
  summary: `Not a feature of Weir: ${feature}`,
});

const NO_CACHE = {
  active_disk_files: 0,
  current_disk_usage_bytes: 0,
  active_memory_buffers: 0,
  current_memory_usage_bytes: 0,
  disk_cache_hits: 0,
  memory_cache_hits: 0,
  disk_cache_max_bytes: 0,
  disk_cache_threshold_bytes: 0,
};

const NO_CACHE_SETTINGS = {
  disk_cache_enabled: false,
  disk_cache_threshold_mb: 0,
  disk_cache_max_size_mb: 0,
  disk_cache_path: "",
  is_running_in_container: false,
  monitor_enabled: false,
  monitor_cpu_threshold: 0,
  monitor_memory_threshold: 0,
  monitor_disk_threshold: 0,
};

export const absentRouter = router({
  uptime: publicProcedure.meta(off("uptime/status", "Uptime Kuma")).query(() => []),
  userAgreement: publicProcedure.meta(off("user-agreement", "a user agreement")).query(() => ""),
  privacyPolicy: publicProcedure.meta(off("privacy-policy", "a privacy policy")).query(() => ""),
  rankings: publicProcedure.meta(off("rankings", "public rankings")).query(() => ({
    models: [],
    vendors: [],
    top_movers: [],
    top_droppers: [],
    models_history: { models: [], points: [] },
    vendor_share_history: { vendors: [], points: [] },
  })),
  speeds: userProcedure
    .meta(off("perf-metrics/summary", "measured speeds of models for users"))
    .query(() => ({ models: [] })),
  plans: userProcedure.meta(off("subscription/plans", "subscriptions")).query(() => []),
  subscription: userProcedure
    .meta(off("subscription/self", "subscriptions"))
    .query(() => ({ billing_preference: "wallet_only", subscriptions: [], all_subscriptions: [] })),
  ownFlow: userProcedure.meta(off("data/flow/self", "flows between groups and models")).query(() => []),
  flow: adminProcedure.meta(off("data/flow", "flows between groups and models")).query(() => []),
  prefillGroups: adminProcedure.meta(off("prefill_group/", "groups of values that fill forms")).query(() => []),
  vendors: adminProcedure
    .meta(off("vendors/", "vendors that an operator edits"))
    .query(() => ({ items: [], total: 0, page: 1, page_size: 10 })),
  deployments: adminProcedure
    .meta(off("deployments/settings", "deployments at io.net"))
    .query(() => ({ provider: "io.net", enabled: false, configured: false, can_connect: false })),
  oauthProviders: rootProcedure.meta(off("custom-oauth-provider/", "custom OAuth providers")).query(() => []),
  systemTasks: rootProcedure.meta(off("system-task/list", "a list of background work")).query(() => []),
  systemTask: rootProcedure.meta(off("system-task/current", "a list of background work")).query(() => null),
  instances: rootProcedure.meta(off("system-info/instances", "a list of instances")).query(() => []),
  syncChannels: rootProcedure.meta(off("ratio_sync/channels", "prices copied from channels")).query(() => []),
  affinity: rootProcedure.meta(off("option/channel_affinity_cache", "a table of channel affinity")).query(() => ({
    enabled: false,
    total: 0,
    unknown: 0,
    by_rule_name: {},
    cache_capacity: 0,
    cache_algo: "",
  })),
  performance: rootProcedure.meta(off("performance/stats", "a cache on disk")).query(() => ({
    cache_stats: NO_CACHE,
    memory_stats: { alloc: 0, total_alloc: 0, sys: 0, num_gc: 0, num_goroutine: 0 },
    disk_cache_info: { path: "", exists: false, file_count: 0, total_size: 0 },
    disk_space_info: { total: 0, free: 0, used: 0, used_percent: 0 },
    config: NO_CACHE_SETTINGS,
  })),
  logFiles: rootProcedure
    .meta(off("performance/logs", "log files on disk"))
    .query(() => ({ enabled: false, log_dir: "", file_count: 0, total_size: 0, files: [] })),
});
