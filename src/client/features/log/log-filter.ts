import type { GridState } from "../../components/data-grid/grid-state";

/** The filters of the log as the address holds them; other pages lead here with them. */
export const LOG_FILTERS = [
  "type",
  "range",
  "start_timestamp",
  "end_timestamp",
  "token_name",
  "token_id",
  "model_name",
  "group",
  "request_id",
  "keyword",
  "channel",
  "username",
  "upstream_request_id",
] as const;
export type LogFilterKey = (typeof LOG_FILTERS)[number];

const whole = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);

/** The filters as the calls take them. */
export function askedFilter(f: Readonly<Record<LogFilterKey, string>>, admin: boolean) {
  const own = {
    type: whole(f.type),
    start_timestamp: whole(f.start_timestamp),
    end_timestamp: whole(f.end_timestamp),
    token_name: f.token_name || undefined,
    token_id: whole(f.token_id),
    model_name: f.model_name || undefined,
    group: f.group || undefined,
    request_id: f.request_id || undefined,
    keyword: f.keyword || undefined,
  };
  const admins = {
    channel: whole(f.channel),
    username: f.username || undefined,
    upstream_request_id: f.upstream_request_id || undefined,
  };
  return admin ? { ...own, ...admins } : own;
}

export type AskedFilter = ReturnType<typeof askedFilter>;

/** The page as the calls take it: beside a row where the address names one. */
export function askedPage({ page, pageSize, at }: Pick<GridState<LogFilterKey>, "page" | "pageSize" | "at">) {
  const found = /^(after|before):(\d{1,15}\.\d{1,15})$/.exec(at ?? "");
  return { p: page, page_size: pageSize, ...(found?.[1] && { [found[1]]: found[2] }) };
}

/** The filters as a query of `/api/log/export` and `/api/log/live`. */
export function filterQuery(filter: AskedFilter): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(filter)) if (value !== undefined) query.set(key, String(value));
  return query.toString();
}
