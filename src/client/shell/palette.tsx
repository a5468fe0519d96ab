import { useLingui } from "@lingui/react/macro";
import { Command } from "cmdk";
import { ChevronRight, Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { Kbd } from "../ui/kbd";
import { layerRoot } from "../ui/layers";
import { fits, type PaletteItem, usePaletteItems } from "./palette-items";
import { useFound } from "./use-found";

interface Group {
  heading: string;
  items: readonly PaletteItem[];
}

const MOVES = ["ArrowDown", "ArrowUp", "Home", "End", "n", "p", "j", "k"];

/** The command palette; a chunk of its own, fetched when first used. Tab on a found object offers its verbs. */
export default function Palette({
  open,
  onOpenChange,
  onShortcuts,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onShortcuts: () => void;
}) {
  const { t } = useLingui();
  const [words, setWords] = useState("");
  const [acting, setActing] = useState<PaletteItem | null>(null);
  const [verb, setVerb] = useState("");
  const typed = acting ? verb : words;
  const { groups, searching } = useGroups(open, words, acting, verb, onShortcuts);
  const items = groups.flatMap((group) => group.items);

  const close = () => {
    onOpenChange(false);
    setWords("");
    setVerb("");
    setActing(null);
  };
  const run = (item: PaletteItem) => {
    close();
    item.run();
  };
  const act = (item: PaletteItem | undefined) => {
    if (!item?.acts?.length) return false;
    setVerb("");
    setActing(item);
    return true;
  };
  const choice = useChoice(`${acting?.id ?? ""}\n${typed}`, items, searching, run);
  const name = acting?.title ?? "";

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Tab" && !event.shiftKey && act(choice.item)) event.preventDefault();
    else if (event.key === "Backspace" && acting && verb === "") {
      event.preventDefault();
      setActing(null);
    } else choice.onKeyDown(event);
  };

  return (
    <Command.Dialog
      open={open}
      // Escape leaves the verbs of an object before it leaves the palette.
      onOpenChange={(next) => (next ? onOpenChange(true) : acting ? setActing(null) : close())}
      label={t`搜索页面与操作`}
      shouldFilter={false}
      value={choice.value}
      onValueChange={choice.onValueChange}
      onKeyDown={onKeyDown}
      onPointerMoveCapture={choice.onMoves}
      onPointerMove={choice.onMoved}
      container={layerRoot()}
      overlayClassName="fixed inset-0 z-50 bg-overlay"
      contentClassName="floating fixed top-[12vh] left-1/2 w-[min(560px,calc(100vw-32px))] -translate-x-1/2 overflow-hidden rounded-xl"
    >
      <div className="flex items-center border-b border-line">
        {acting ? (
          <span className="ml-4 flex max-w-1/2 items-center gap-1 text-muted">
            <span className="truncate">{name}</span>
            <ChevronRight aria-hidden className="size-4 shrink-0" />
          </span>
        ) : null}
        <Command.Input
          placeholder={
            acting ? t`对 ${name} 做什么？` : t`搜索用户、渠道、令牌、模型、请求 ID、订单、兑换码、设置和页面`
          }
          value={typed}
          onValueChange={acting ? setVerb : setWords}
          className="h-12 w-full min-w-0 bg-transparent px-4 text-base outline-none"
        />
      </div>
      <Command.List label={t`结果`} className="max-h-[50vh] overflow-y-auto p-2">
        {items.length === 0 ? (
          <p role="status" className="px-2 py-6 text-center text-muted">
            {searching ? t`正在搜索…` : t`没有匹配的结果`}
          </p>
        ) : null}
        {groups.map(({ heading, items: rows }) => (
          <Command.Group
            key={heading}
            heading={heading}
            className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted"
          >
            {rows.map((item) => (
              <Row key={item.id} item={item} onRun={() => run(item)} onActs={() => act(item)} />
            ))}
          </Command.Group>
        ))}
      </Command.List>
      {choice.item?.acts?.length ? (
        <p className="flex items-center gap-1.5 border-t border-line px-4 py-2 text-xs text-muted pointer-coarse:hidden">
          <Kbd>Enter</Kbd> {t`打开`} <Kbd className="ml-2">Tab</Kbd> {t`更多操作`}
        </p>
      ) : null}
    </Command.Dialog>
  );
}

/** The lines in their order: pages first, because they are there at once and stay where they are. */
function useGroups(open: boolean, words: string, acting: PaletteItem | null, verb: string, onShortcuts: () => void) {
  const { t } = useLingui();
  const [, navigate] = useLocation();
  const found = useFound(open ? words : "");
  const { pages, actions } = usePaletteItems(words.trim(), onShortcuts);
  const all: Group[] = acting
    ? [{ heading: acting.title, items: (acting.acts ?? []).filter(({ id, title }) => fits(verb.trim(), [id, title])) }]
    : [
        { heading: t`页面`, items: pages },
        ...found.groups.map(({ heading, items }) => ({
          heading,
          items: items.map((item) => ({ icon: Search, ...item, run: () => navigate(item.to) })),
        })),
        { heading: t`操作`, items: actions },
      ];
  return {
    groups: all.filter(({ items }) => items.length > 0),
    // A page is the first line whatever else is found.
    searching: !acting && found.searching && pages.length === 0,
  };
}

/**
 * The selected line: the one the reader moved to, else the first of the words as they stand. Enter before the answers
 * have come opens the first of them once they are there.
 */
function useChoice(words: string, items: readonly PaletteItem[], searching: boolean, run: (item: PaletteItem) => void) {
  const [moved, setMoved] = useState({ words, id: "" });
  const [entered, setEntered] = useState<string | null>(null);
  const byReader = useRef(false);
  const chosen = moved.words === words ? items.find(({ id }) => id === moved.id) : undefined;
  const item = chosen ?? items[0];
  const value = item?.id ?? "";

  useEffect(() => {
    if (entered === null || searching) return;
    setEntered(null);
    if (entered === words && item) run(item);
  }, [entered, searching, words, item, run]);

  // cmdk tells readers of the screen only of its own moves.
  useLayoutEffect(() => {
    const selected = document.querySelector(`[cmdk-item][data-value="${CSS.escape(value)}"]`);
    if (selected) document.querySelector("[cmdk-input]")?.setAttribute("aria-activedescendant", selected.id);
  });

  return {
    item,
    value,
    onValueChange: (id: string) => {
      if (byReader.current) setMoved({ words, id });
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "Enter" && searching && !chosen) {
        event.preventDefault();
        setEntered(words);
        return;
      }
      byReader.current = MOVES.includes(event.key);
      queueMicrotask(() => (byReader.current = false));
    },
    onMoves: () => (byReader.current = true),
    onMoved: () => (byReader.current = false),
  };
}

function Row({ item, onRun, onActs }: { item: PaletteItem; onRun: () => void; onActs: () => void }) {
  const { icon: Icon, title, note, acts } = item;
  return (
    <Command.Item
      value={item.id}
      onSelect={onRun}
      className="menu-item text-ink! data-[selected=true]:bg-accent-soft [&_svg]:size-4 [&_svg]:text-muted"
    >
      {Icon ? <Icon aria-hidden /> : null}
      <span className="truncate">{title}</span>
      {note ? <span className="ml-auto shrink-0 truncate pl-3 text-xs text-muted">{note}</span> : null}
      {acts?.length ? (
        // By keyboard it is Tab.
        <span
          aria-hidden
          data-acts
          className={`-my-1 flex size-7 shrink-0 items-center justify-center rounded-md hover:bg-sunken pointer-coarse:size-10 ${note ? "" : "ml-auto"}`}
          onClick={(event) => {
            event.stopPropagation();
            onActs();
          }}
        >
          <ChevronRight />
        </span>
      ) : null}
    </Command.Item>
  );
}
