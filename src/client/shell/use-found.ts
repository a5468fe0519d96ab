/** What the palette finds besides pages: objects that the role may see, by the same lists that the pages show. */
import { useLingui } from "@lingui/react/macro";
import { cards, option, optionKeys } from "../../shared/options";
import { ROLE } from "../../shared/roles";
import { currentLanguage } from "../lib/i18n";
import { useUser } from "../lib/session";
import { trpc } from "../lib/trpc";
import { useDebounced } from "../lib/use-debounced";

export interface Found {
  id: string;
  title: string;
  /** Beside the title, muted. */
  note?: string;
  to: string;
}

export interface FoundGroup {
  heading: string;
  items: readonly Found[];
}

/** Fewer letters fit too much. */
const LEAST = 2;
const MOST = 5;
const PAUSE = 150;

const quiet = { staleTime: 10_000, meta: { quiet: true } } as const;

/** Objects whose name or number fits the words, grouped. */
export function useFound(words: string): { groups: readonly FoundGroup[]; searching: boolean } {
  const { t } = useLingui();
  const user = useUser();
  const role = user?.role ?? 0;
  const typed = useDebounced(words.trim(), PAUSE).slice(0, 100);
  const enabled = user !== null && typed.length >= LEAST;
  const admin = enabled && role >= ROLE.admin;
  const page = { page: 1, page_size: MOST };
  // A request id has no blanks and is long; other words are looked for in names.
  const isRequest = enabled && /^[\w-]{16,128}$/.test(typed);

  const users = trpc.user.list.useQuery({ ...page, keyword: typed }, { ...quiet, enabled: admin });
  const channels = trpc.channel.list.useQuery({ ...page, keyword: typed }, { ...quiet, enabled: admin });
  const tokens = trpc.token.list.useQuery({ ...page, keyword: typed }, { ...quiet, enabled });
  const models = trpc.group.models.useQuery({}, { ...quiet, staleTime: 60_000, enabled });
  const request = { p: 1, page_size: MOST, request_id: typed };
  const all = trpc.log.page.useQuery(request, { ...quiet, enabled: isRequest && admin });
  const own = trpc.log.ownPage.useQuery(request, { ...quiet, enabled: isRequest && !admin });
  const calls = admin ? all : own;

  const wanted = typed.toLowerCase();
  const language = currentLanguage();
  const settings =
    enabled && role >= ROLE.root
      ? optionKeys
          .filter((key) => `${key}\n${option(key).label[language]}`.toLowerCase().includes(wanted))
          .slice(0, MOST)
      : [];
  const found = <T>(data: readonly T[] | undefined, item: (row: T) => Found): Found[] =>
    enabled ? (data ?? []).slice(0, MOST).map(item) : [];

  const groups: FoundGroup[] = [
    {
      heading: t`用户`,
      items: found(admin ? users.data?.items : [], ({ id, username, display_name }) => ({
        id: `user ${id}`,
        title: username,
        note: display_name === username ? `#${id}` : `${display_name} #${id}`,
        to: `/user?edit=${id}`,
      })),
    },
    {
      heading: t`渠道`,
      items: found(admin ? channels.data?.items : [], ({ id, name }) => ({
        id: `channel ${id}`,
        title: name,
        note: `#${id}`,
        to: `/channel?open=${id}`,
      })),
    },
    {
      heading: t`令牌`,
      items: found(tokens.data?.items, ({ id, name }) => ({
        id: `token ${id}`,
        title: name,
        note: `#${id}`,
        to: `/token?open=${id}`,
      })),
    },
    {
      heading: t`模型`,
      items: found(
        models.data?.filter((name) => name.toLowerCase().includes(wanted)),
        (name) => ({ id: `model ${name}`, title: name, to: `/pricing?q=${encodeURIComponent(name)}` }),
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
      heading: t`设置`,
      items: settings.map((key) => {
        const { card } = option(key);
        return {
          id: `setting ${key}`,
          title: option(key).label[language],
          note: cards[card].title[language],
          to: `/setting?tab=${cards[card].tab}#card-${card}`,
        };
      }),
    },
  ];
  const waiting =
    words.trim() !== typed || (enabled && [users, channels, tokens, calls].some((query) => query.isLoading));
  return {
    groups: groups.filter(({ items }) => items.length > 0),
    searching: user !== null && words.trim().length >= LEAST && waiting,
  };
}
