import { useLingui } from "@lingui/react/macro";
import { Search } from "lucide-react";
import { useEffect, useId, useRef, useState, type KeyboardEvent, type Ref } from "react";
import { channelType, channelTypes, type ChannelType } from "../../../shared/channel-types";
import { Button } from "../../ui/button";
import { TypeLogo, typeName } from "./channel-type-look";

interface Wiring {
  id?: string;
  "aria-labelledby"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
}

interface TypePickerProps extends Wiring {
  /** 0: none yet. */
  value: number;
  onValueChange: (type: number) => void;
}

/** Chat models with a logo are what people look for first; the order is otherwise that of the registry. */
const rank = (type: ChannelType) => (type.operations.includes("chat") ? 0 : 1) + (type.logo === "" ? 2 : 0);
const inOrder: readonly ChannelType[] = [...channelTypes].sort((a, b) => rank(a) - rank(b));

/** The types whose name, key or number has the text in it. */
function typesFor(search: string): readonly ChannelType[] {
  const needle = search.trim().toLowerCase();
  if (!needle) return inOrder;
  return inOrder.filter((type) =>
    `${type.name.zh}\n${type.name.en}\n${type.key}\n${type.id}`.toLowerCase().includes(needle),
  );
}

/** The type of an upstream: a searchable grid of logos until one is picked, then that one and a button to change it. */
export function TypePicker({ value, onValueChange, ...wiring }: TypePickerProps) {
  const [changing, setChanging] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const change = useRef<HTMLButtonElement>(null);
  const refocus = useRef(false);
  const open = value === 0 || changing;

  useEffect(() => {
    if (!refocus.current) return;
    refocus.current = false;
    (open ? field : change).current?.focus();
  }, [open]);

  const setOpen = (next: boolean) => {
    refocus.current = true;
    setChanging(next);
  };
  if (!open) return <ChosenType ref={change} value={value} wiring={wiring} onChange={() => setOpen(true)} />;
  return (
    <TypeSearch
      ref={field}
      value={value}
      wiring={wiring}
      onChoose={(type) => {
        setOpen(false);
        onValueChange(type);
      }}
      onCancel={changing ? () => setOpen(false) : undefined}
    />
  );
}

type TypeSearchProps = {
  value: number;
  wiring: Wiring;
  onChoose: (type: number) => void;
  /** Escape; undefined while there is no type to go back to. */
  onCancel: (() => void) | undefined;
  ref: Ref<HTMLInputElement>;
};

/** The grid and its search field. Arrows move over the grid while the field keeps the focus. */
function TypeSearch({ value, wiring, onChoose, onCancel, ref }: TypeSearchProps) {
  const { t } = useLingui();
  const listId = useId();
  const [search, setSearch] = useState("");
  const [active, setActive] = useState(() =>
    Math.max(
      0,
      inOrder.findIndex((type) => type.id === value),
    ),
  );
  const list = useRef<HTMLDivElement>(null);
  const shown = typesFor(search);

  useEffect(() => {
    list.current?.querySelector("[data-highlighted]")?.scrollIntoView({ block: "nearest" });
  }, [active, search]);

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    const columns = list.current ? getComputedStyle(list.current).gridTemplateColumns.split(" ").length : 1;
    const sideways = search === "" ? 1 : 0;
    const step = { ArrowDown: columns, ArrowUp: -columns, ArrowRight: sideways, ArrowLeft: -sideways }[event.key];
    if (step) {
      event.preventDefault();
      setActive((current) => Math.max(0, Math.min(shown.length - 1, current + step)));
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const chosen = shown[active];
      if (chosen) onChoose(chosen.id);
    } else if (event.key === "Escape" && onCancel) {
      // Only the grid closes, not the drawer around it.
      event.stopPropagation();
      onCancel();
    }
  };

  return (
    <div className="grid gap-2 rounded-md border border-line p-2">
      <span className="relative">
        <Search aria-hidden className="pointer-events-none absolute inset-y-0 left-2.5 my-auto size-4 text-muted" />
        <input
          ref={ref}
          type="search"
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-activedescendant={shown.length > 0 ? `${listId}-${active}` : undefined}
          placeholder={t`搜索渠道类型`}
          autoComplete="off"
          value={search}
          onChange={(event) => {
            setSearch(event.target.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
          className="control pl-8"
          {...wiring}
        />
      </span>
      <div
        ref={list}
        id={listId}
        role="listbox"
        aria-label={t`渠道类型`}
        tabIndex={-1}
        className="grid max-h-64 grid-cols-[repeat(auto-fill,minmax(150px,1fr))] gap-1 overflow-y-auto"
      >
        {shown.map((type, index) => (
          <TypeOption
            key={type.id}
            id={`${listId}-${index}`}
            type={type}
            selected={type.id === value}
            active={index === active}
            onPoint={() => setActive(index)}
            onChoose={() => onChoose(type.id)}
          />
        ))}
      </div>
      {shown.length === 0 ? <p className="px-2 py-3 text-muted">{t`没有匹配的选项`}</p> : null}
    </div>
  );
}

type ChosenTypeProps = { value: number; wiring: Wiring; onChange: () => void; ref: Ref<HTMLButtonElement> };

/** The type that was picked, and the way to another. */
function ChosenType({ value, wiring, onChange, ref }: ChosenTypeProps) {
  const { t } = useLingui();
  return (
    <div className="flex min-h-10 items-center gap-2 rounded-md border border-line bg-sunken px-3 py-1.5">
      <TypeLogo type={value} className="size-5" />
      <span className="min-w-0 flex-1 truncate font-medium">{typeName(value)}</span>
      <span className="text-xs text-ink-2">{channelType(value)?.key}</span>
      <Button
        ref={ref}
        size="sm"
        {...wiring}
        aria-labelledby={`${wiring.id}-change ${wiring["aria-labelledby"] ?? ""}`}
        onClick={onChange}
      >
        <span id={`${wiring.id}-change`}>{t`更换`}</span>
      </Button>
    </div>
  );
}

type TypeOptionProps = {
  id: string;
  type: ChannelType;
  selected: boolean;
  /** The keyboard is on it. */
  active: boolean;
  onPoint: () => void;
  onChoose: () => void;
};

function TypeOption({ id, type, selected, active, onPoint, onChoose }: TypeOptionProps) {
  const name = typeName(type.id);
  return (
    <div
      id={id}
      role="option"
      aria-selected={selected}
      data-highlighted={active ? "" : undefined}
      title={type.name[name === type.name.en ? "zh" : "en"]}
      onPointerMove={onPoint}
      onClick={onChoose}
      className="flex h-9 min-w-0 cursor-pointer items-center gap-2 rounded-md border border-transparent px-2 aria-selected:border-accent aria-selected:bg-accent-soft data-highlighted:bg-sunken pointer-coarse:h-10"
    >
      <TypeLogo type={type.id} />
      <span className="truncate">{name}</span>
    </div>
  );
}
