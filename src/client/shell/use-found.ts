/** What the palette finds besides pages: objects that the role may see, by the same lists that the pages show. */
import { useLingui } from "@lingui/react/macro";
import { optionFacts, optionKeys } from "../../shared/option-facts";
import { cards } from "../../shared/options";
import { ROLE } from "../../shared/roles";
import { MOST_FOUND } from "../../shared/search";
import { currentLanguage } from "../lib/i18n";
import { moneyText } from "../features/order/money";
import { useUser } from "../lib/session";
import { trpc } from "../lib/trpc";
import { useDebounced } from "../lib/use-debounced";
import { type Act, useFoundActs } from "./found-acts";

export interface Found {
  id: string;
  title: string;
  /** Beside the title, muted. */
  note?: string;
  to: string;
  /** What else can be done with it. */
  acts?: readonly Act[];
}

export interface FoundGroup {
  heading: string;
  items: readonly Found[];
}

/** Fewer letters fit too much. */
const LEAST = 2;
const PAUSE = 150;

const quiet = { staleTime: 10_000, meta: { quiet: true } } as const;

/** Objects whose name or number fits the words as they stand, grouped; none of earlier words. */
export function useFound(words: string): { groups: readonly FoundGroup[]; searching: boolean } {
  const { t } = useLingui();
  const user = useUser();
  const role = user?.role ?? 0;
  const acts = useFoundActs();
  const typed = useDebounced(words.trim(), PAUSE).slice(0, 100);
  const current = words.trim().slice(0, 100) === typed;
  const enabled = user !== null && typed.length >= LEAST;
  const admin = enabled && role >= ROLE.admin;
  const page = { page: 1, page_size: MOST_FOUND };
  // A request id has no blanks and is long; other words are looked for in names.
  const isRequest = enabled && /^[\w-]{16,128}$/.test(typed);
  const isKey = enabled && /^(sk-)?[A-Za-z0-9]{6,64}$/.test(typed);

  const users = trpc.user.find.useQuery({ words: typed }, { ...quiet, enabled: admin });
  const channels = trpc.channel.list.useQuery({ ...page, keyword: typed }, { ...quiet, enabled: admin });
  const tokens = trpc.token.list.useQuery({ ...page, keyword: typed }, { ...quiet, enabled });
  const keys = trpc.token.list.useQuery({ ...page, token: typed }, { ...quiet, enabled: isKey });
  const codes = trpc.redemption.find.useQuery({ words: typed }, { ...quiet, enabled: admin });
  const orders = trpc.order.find.useQuery({ words: typed }, { ...quiet, enabled });
  const models = trpc.group.models.useQuery({}, { ...quiet, staleTime: 60_000, enabled });
  const request = { p: 1, page_size: MOST_FOUND, request_id: typed };
  const all = trpc.log.page.useQuery(request, { ...quiet, enabled: isRequest && admin });
  const own = trpc.log.ownPage.useQuery(request, { ...quiet, enabled: isRequest && !admin });
  const calls = admin ? all : own;

  const wanted = typed.toLowerCase();
  const language = currentLanguage();
  const settings =
    enabled && current && role >= ROLE.root
      ? optionKeys
          .filter((key) => `${key}\n${optionFacts[key].label[language]}`.toLowerCase().includes(wanted))
          .slice(0, MOST_FOUND)
      : [];
  const found = <T>(data: readonly T[] | undefined, item: (row: T) => Found): Found[] =>
    enabled && current ? (data ?? []).slice(0, MOST_FOUND).map(item) : [];
  const named = tokens.data?.items ?? [];
  const keyed = (isKey && keys.data?.items) || [];
  const bothTokens = [...named, ...keyed.filter(({ id }) => !named.some((row) => row.id === id))];

  const groups: FoundGroup[] = [
    {
      heading: t`用户`,
      items: found(admin ? users.data : [], (row) => ({
        id: `user ${row.id}`,
        title: row.username,
        note: row.display_name === row.username ? `#${row.id}` : `${row.display_name} #${row.id}`,
        to: `/user?edit=${row.id}`,
        acts: acts.user(row),
      })),
    },
    {
      heading: t`渠道`,
      items: found(admin ? channels.data?.items : [], (row) => ({
        id: `channel ${row.id}`,
        title: row.name,
        note: `#${row.id}`,
        to: `/channel?open=${row.id}`,
        acts: acts.channel(row),
      })),
    },
    {
      heading: t`令牌`,
      items: found(bothTokens, (row) => ({
        id: `token ${row.id}`,
        title: row.name,
        note: row.key_hint,
        to: `/token?open=${row.id}`,
        acts: acts.token(row),
      })),
    },
    {
      heading: t`模型`,
      items: found(
        models.data?.filter((name) => name.toLowerCase().includes(wanted)),
        (name) => ({
          id: `model ${name}`,
          title: name,
          to: `/pricing?q=${encodeURIComponent(name)}`,
          acts: acts.model(name),
        }),
      ),
    },
    {
      heading: t`调用`,
      items: found(isRequest ? calls.data?.items : [], ({ id, request_id, model_name }) => ({
        id: `call ${id}`,
        title: request_id,
        note: model_name,
        to: `/log?request_id=${encodeURIComponent(request_id)}&open=${id}`,
      })),
    },
    {
      heading: t`订单`,
      items: found(orders.data, (row) => ({
        id: `order ${row.id}`,
        title: row.trade_no,
        note: `${admin ? `${row.username} · ` : ""}${moneyText(row.money, row.currency)}`,
        to: `/topup?${admin ? "orders=all&" : ""}order=${encodeURIComponent(row.trade_no)}`,
      })),
    },
    {
      heading: t`兑换码`,
      items: found(admin ? codes.data : [], (row) => ({
        id: `code ${row.id}`,
        title: row.name,
        note: `#${row.id}`,
        to: `/redemption?open=${row.id}`,
        acts: acts.code(row),
      })),
    },
    {
      heading: t`设置`,
      items: settings.map((key) => {
        const { card } = optionFacts[key];
        return {
          id: `setting ${key}`,
          title: optionFacts[key].label[language],
          note: cards[card].title[language],
          to: `/setting?tab=${cards[card].tab}#card-${card}`,
        };
      }),
    },
  ];
  const asked = [users, channels, tokens, keys, models, calls, codes, orders];
  return {
    groups: groups.filter(({ items }) => items.length > 0),
    searching:
      user !== null &&
      words.trim().length >= LEAST &&
      (!current || (enabled && asked.some((query) => query.isLoading))),
  };
}
