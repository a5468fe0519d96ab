import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import {
  AudioLines,
  Brain,
  Image,
  ListOrdered,
  type LucideIcon,
  ScanEye,
  Video,
  Waypoints,
  Wrench,
} from "lucide-react";
import type { Capability, CatalogueModel } from "../../../shared/price-list";
import { formatNumber } from "../../lib/format";
import { Badge } from "../../ui/badge";
import { Tooltip } from "../../ui/tooltip";

/** Sign and name of each capability, in the order in which they are shown. */
export const capabilityLooks: Readonly<Record<Capability, { icon: LucideIcon; name: MessageDescriptor }>> = {
  vision: { icon: ScanEye, name: msg`识别图片` },
  tools: { icon: Wrench, name: msg`调用工具` },
  reasoning: { icon: Brain, name: msg`推理` },
  audio: { icon: AudioLines, name: msg`音频` },
  image: { icon: Image, name: msg`生成图片` },
  video: { icon: Video, name: msg`生成视频` },
  embedding: { icon: Waypoints, name: msg`嵌入` },
  rerank: { icon: ListOrdered, name: msg`重排` },
};

/** What a model can do, as signs with their names on hover; nothing where nothing is known. */
export function CapabilitySigns({ item: { capabilities = [] } }: { item: CatalogueModel }) {
  const { i18n } = useLingui();
  if (capabilities.length === 0) return null;
  return (
    <ul className="flex gap-1">
      {capabilities.map((capability) => {
        const { icon: Icon, name } = capabilityLooks[capability];
        return (
          <li key={capability}>
            <Tooltip content={i18n._(name)}>
              <span role="img" aria-label={i18n._(name)} className="grid size-6 place-items-center text-ink-2">
                <Icon aria-hidden className="size-4" />
              </span>
            </Tooltip>
          </li>
        );
      })}
    </ul>
  );
}

/** The same in words, and the longest input, for a model's own panel; nothing where nothing is known. */
export function ModelFacts({ item }: { item: CatalogueModel }) {
  const { t, i18n } = useLingui();
  const { capabilities = [], context } = item;
  if (capabilities.length === 0 && context === undefined) return null;
  const tokens = formatNumber(context ?? 0);
  return (
    <ul aria-label={t`能力`} className="flex flex-wrap gap-1.5">
      {capabilities.map((capability) => {
        const { icon: Icon, name } = capabilityLooks[capability];
        return (
          <li key={capability}>
            <Badge icon={<Icon aria-hidden />}>{i18n._(name)}</Badge>
          </li>
        );
      })}
      {context === undefined ? null : (
        <li>
          <Badge hue="blue">{t`上下文 ${tokens}`}</Badge>
        </li>
      )}
    </ul>
  );
}
