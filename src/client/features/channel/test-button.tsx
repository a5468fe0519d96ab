import { useLingui } from "@lingui/react/macro";
import { ChevronDown, Zap } from "lucide-react";
import { splitList, type ChannelView } from "../../../shared/channel";
import { channelType } from "../../../shared/channel-types";
import { Button } from "../../ui/button";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuLabel,
  DropdownMenuTrigger,
} from "../../ui/dropdown-menu";
import { useChannelTest, useRunTest } from "./channel-tests";

/** Tests the channel, or, from its menu, one of its models. `compact` leaves out the word, in rows. */
export function TestButton({ channel, compact = false }: { channel: ChannelView; compact?: boolean }) {
  const { t } = useLingui();
  const runTest = useRunTest();
  const running = useChannelTest(channel.id)?.kind === "running";
  const models = splitList(channel.models);
  const name = channel.name;
  const testable = channelType(channel.type)?.test ?? false;

  return (
    <span className="inline-flex shrink-0" data-row-control>
      <Button
        size="sm"
        loading={running}
        disabled={!testable}
        title={testable ? undefined : t`该类型渠道不支持测试`}
        aria-label={t`测试渠道 ${name}`}
        className="rounded-r-none pointer-coarse:px-2"
        onClick={() => void runTest(channel)}
      >
        {running ? null : <Zap aria-hidden />}
        {compact ? null : <span className="max-sm:hidden">{t`测试`}</span>}
      </Button>
      <DropdownMenu modal={false}>
        <DropdownMenuTrigger asChild>
          <Button
            size="sm"
            disabled={!testable}
            aria-label={t`测试渠道 ${name} 的某个模型`}
            className="-ml-px rounded-l-none px-1 pointer-coarse:px-2 [&_svg]:size-3.5"
          >
            <ChevronDown aria-hidden />
          </Button>
        </DropdownMenuTrigger>
        <DropdownMenuContent className="max-w-80">
          <DropdownMenuLabel>{t`用此模型测试`}</DropdownMenuLabel>
          {models.map((model) => (
            <DropdownMenuItem key={model} onSelect={() => void runTest(channel, model)}>
              <span className="font-mono text-xs wrap-anywhere">{model}</span>
            </DropdownMenuItem>
          ))}
        </DropdownMenuContent>
      </DropdownMenu>
    </span>
  );
}
