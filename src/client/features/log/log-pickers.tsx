/** The log's filters by user, channel, model and token: found by name instead of typed as a number. */
import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import type { FilterControlProps } from "../../components/data-grid/types";
import { trpc } from "../../lib/trpc";
import { useDebounced } from "../../lib/use-debounced";
import { Combobox, type ComboboxOption } from "../../ui/combobox";

const MOST = 20;
const OPTIONS = { placeholderData: keepPreviousData, meta: { quiet: true } } as const;

function Picker({
  id,
  value,
  onChange,
  options,
  onSearch,
  free = false,
}: FilterControlProps & { options: readonly ComboboxOption[]; onSearch?: (words: string) => void; free?: boolean }) {
  const { t } = useLingui();
  return (
    <Combobox
      id={id}
      aria-labelledby={`${id}-label ${id}`}
      value={value || null}
      onValueChange={(next) => onChange(next ?? "")}
      options={options}
      {...(onSearch && { onSearch })}
      free={free}
      placeholder={t`不限`}
      clearable
    />
  );
}

const isNumber = (words: string): boolean => /^\d+$/.test(words);

/**
 * What was typed last, and what of it has been answered: until then nothing is offered, so that Enter never takes what
 * earlier words found.
 */
function useWords() {
  const [words, setWords] = useState("");
  const asked = useDebounced(words, 200);
  const found = <T,>({ data, isPlaceholderData }: { data?: { items: T[] } | undefined; isPlaceholderData: boolean }) =>
    words === asked && !isPlaceholderData ? (data?.items ?? []) : [];
  return { words, setWords, asked, found };
}

/** The value is a username. */
export function UserPicker(props: FilterControlProps) {
  const { setWords, asked, found } = useWords();
  const list = trpc.user.list.useQuery({ page: 1, page_size: MOST, keyword: asked }, OPTIONS);
  const options = found(list).map(({ id, username, display_name }) => ({
    value: username,
    label: username,
    hint: display_name && display_name !== username ? display_name : `#${id}`,
  }));
  return <Picker {...props} options={options} onSearch={setWords} free />;
}

/** The value is a channel's number, found by its name or typed. */
export function ChannelPicker(props: FilterControlProps) {
  const { words, setWords, asked, found } = useWords();
  const list = trpc.channel.list.useQuery({ page: 1, page_size: MOST, keyword: asked }, OPTIONS);
  const name = useChannelName(props.value);
  const rows = found(list).map((row) => ({ value: String(row.id), label: row.name, hint: `#${row.id}` }));
  const known = rows.some(({ value }) => value === props.value) || words !== "" || !props.value;
  const options = known ? rows : [{ value: props.value, label: name }, ...rows];
  return <Picker {...props} options={options} onSearch={setWords} free={isNumber(words)} />;
}

/** The value is a part of a model's name. */
export function ModelPicker(props: FilterControlProps) {
  const models = trpc.group.models.useQuery({}, { ...OPTIONS, staleTime: 60_000 });
  return <Picker {...props} options={(models.data ?? []).map((name) => ({ value: name, label: name }))} free />;
}

/** The value is a token's number; others' tokens are named by it alone. */
export function TokenPicker(props: FilterControlProps) {
  const { words, setWords, asked, found } = useWords();
  const list = trpc.token.list.useQuery({ page: 1, page_size: MOST, keyword: asked }, OPTIONS);
  const options = found(list).map((row) => ({ value: String(row.id), label: row.name, hint: `#${row.id}` }));
  return <Picker {...props} options={options} onSearch={setWords} free={isNumber(words)} />;
}

function useChannelName(id: string): string {
  const known = trpc.channel.get.useQuery(
    { id: Number(id) },
    { ...OPTIONS, enabled: /^\d{1,15}$/.test(id) && id !== "0" },
  );
  return known.data ? `${known.data.name} #${id}` : id;
}

/** How a channel's number reads. */
export function ChannelName({ id }: { id: string }) {
  return <>{useChannelName(id)}</>;
}

/** How a token's number reads: an own one by its name. */
export function TokenName({ id }: { id: string }) {
  const known = trpc.token.get.useQuery(
    { id: Number(id) },
    { ...OPTIONS, enabled: /^[1-9]\d{0,14}$/.test(id), retry: false },
  );
  return <>{known.data ? `${known.data.name} #${id}` : `#${id}`}</>;
}
