import { useLingui } from "@lingui/react/macro";
import { CircleX } from "lucide-react";
import { useEffect, useState } from "react";
import { ResponseTimeBadge } from "../../components/status-badge";
import { formatMilliseconds } from "../../lib/format";
import { Badge } from "../../ui/badge";
import { Spinner } from "../../ui/spinner";
import { Tooltip } from "../../ui/tooltip";
import { useChannelTest, type ChannelTest } from "./channel-tests";

/** How long something has been running; `since` is a reading of performance.now(). */
function Stopwatch({ since }: { since: number }) {
  const [elapsed, setElapsed] = useState(() => performance.now() - since);
  useEffect(() => {
    const timer = setInterval(() => setElapsed(performance.now() - since), 100);
    return () => clearInterval(timer);
  }, [since]);
  return <time className="tabular-nums">{(elapsed / 1000).toFixed(1)} s</time>;
}

/** A test that runs, its time when it went well, or that it failed and why. */
export function TestBadge({ test }: { test: ChannelTest }) {
  const { t } = useLingui();
  if (test.kind === "running") {
    return (
      <Badge hue="blue" icon={<Spinner />}>
        <Stopwatch since={test.startedAt} />
      </Badge>
    );
  }
  if (test.success) return <ResponseTimeBadge value={Math.round(test.time * 1000)} />;
  const time = test.time > 0 ? ` · ${formatMilliseconds(test.time * 1000)}` : "";
  return (
    <Tooltip content={test.message}>
      <Badge hue="red" icon={<CircleX aria-hidden />} tabIndex={0}>
        {t`失败`}
        {time}
        <span className="sr-only">{test.message}</span>
      </Badge>
    </Tooltip>
  );
}

/** The response time of a channel: that of the test which runs or just ran, else the stored one in milliseconds. */
export function ChannelResponseTime({ id, stored }: { id: number; stored: number }) {
  const test = useChannelTest(id);
  return test ? <TestBadge test={test} /> : <ResponseTimeBadge value={stored} />;
}
