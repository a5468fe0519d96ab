import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useEffect, useRef, useState, type ReactNode, type RefObject } from "react";
import { FormProvider, useFormContext } from "react-hook-form";
import { DraftNotice } from "../../components/draft-notice";
import { FormFooter } from "../../components/form-footer";
import { cn } from "../../lib/cn";
import { useHotkeys } from "../../lib/hotkeys";
import { Tooltip } from "../../ui/tooltip";
import { DraftTest } from "./draft-test";
import { AdvancedFields } from "./advanced-fields";
import type { ChannelField, ChannelValues } from "./channel-values";
import { ConnectionFields } from "./connection-fields";
import { ModelsField } from "./models-field";
import { RewriteFields } from "./rewrite-fields";
import { RoutingFields } from "./routing-fields";
import type { ChannelFormState } from "./use-channel-form";

/** The sections of the form in their order, and the fields that each holds. */
const SECTIONS: readonly { id: string; title: MessageDescriptor; fields: readonly ChannelField[] }[] = [
  { id: "connection", title: msg`类型与连接`, fields: ["type", "name", "base_url", "multi_key_mode", "key", "other"] },
  { id: "models", title: msg`模型列表`, fields: ["models"] },
  { id: "routing", title: msg`分组与路由`, fields: ["groups", "tag", "priority", "weight"] },
  {
    id: "rewrite",
    title: msg`映射与改写`,
    fields: ["model_mapping", "status_code_mapping", "setting", "param_override", "header_override"],
  },
  {
    id: "advanced",
    title: msg`高级`,
    fields: ["openai_organization", "test_model", "auto_ban", "max_input_tokens"],
  },
];

const FIELD_NAMES: Readonly<Record<ChannelField, MessageDescriptor>> = {
  type: msg`类型`,
  name: msg`名称`,
  key: msg`密钥`,
  base_url: msg`接口地址`,
  other: msg`附加参数`,
  models: msg`模型`,
  groups: msg`分组`,
  tag: msg`标签`,
  priority: msg`优先级`,
  weight: msg`权重`,
  model_mapping: msg`模型映射`,
  status_code_mapping: msg`状态码映射`,
  openai_organization: msg`组织`,
  test_model: msg`测试模型`,
  auto_ban: msg`失败时自动禁用`,
  max_input_tokens: msg`最大输入 tokens`,
  setting: msg`渠道额外设置`,
  param_override: msg`参数覆盖`,
  header_override: msg`请求头覆盖`,
  multi_key_mode: msg`密钥模式`,
};

/**
 * The fields of a channel, new or stored: one scroll of five sections with a list of them beside it. `level` is that of
 * the section headings.
 */
export function ChannelForm({ state, level }: { state: ChannelFormState; level: 2 | 3 }) {
  const { form, draft, formId, stored, before, channelId } = state;
  const root = useRef<HTMLDivElement>(null);
  useFocusFirstError(root, form.formState.submitCount, form.formState.errors);
  const saveNow = () => {
    // What is still being typed into a list is taken in when its field is left.
    const field = document.activeElement;
    if (field instanceof HTMLElement) {
      field.blur();
      field.focus({ preventScroll: true });
    }
    state.submit();
  };
  useHotkeys({ "$mod+Enter": saveNow });

  return (
    <FormProvider {...form}>
      <DraftNotice {...draft} />
      <div ref={root} className="flex gap-5 max-sm:flex-col max-sm:gap-3">
        <SectionNav formId={formId} />
        <form
          id={formId}
          noValidate
          className="grid min-w-0 flex-1 grid-cols-[minmax(0,1fr)] gap-8"
          // In the capture phase, because Enter has a meaning of its own in several fields.
          onKeyDownCapture={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
            event.preventDefault();
            event.stopPropagation();
            saveNow();
          }}
          onSubmit={(event) => {
            event.preventDefault();
            state.submit();
          }}
        >
          <Section formId={formId} id="connection" level={level}>
            <ConnectionFields before={stored ? before : undefined} channelId={channelId} />
          </Section>
          <Section formId={formId} id="models" level={level}>
            <ModelsField id={channelId} />
          </Section>
          <Section formId={formId} id="routing" level={level}>
            <RoutingFields />
          </Section>
          <Section formId={formId} id="rewrite" level={level}>
            <RewriteFields />
          </Section>
          <Section formId={formId} id="advanced" level={level}>
            <AdvancedFields />
          </Section>
        </form>
      </div>
    </FormProvider>
  );
}

/** Save, cancel, and how much would change. */
export function ChannelFormFooter({ state, onCancel }: { state: ChannelFormState; onCancel: () => void }) {
  const { t, i18n } = useLingui();
  const names = state.changes.map((field) => i18n._(FIELD_NAMES[field])).join("、");
  const count = state.changes.length;
  return (
    <FormFooter {...state} onCancel={onCancel}>
      <Tooltip content={names}>
        <span role="status" tabIndex={names ? 0 : undefined} className="mr-auto rounded-sm text-ink-2">
          {count > 0 ? t`${count} 处修改` : ""}
        </span>
      </Tooltip>
      <DraftTest state={state} />
    </FormFooter>
  );
}

const anchorOf = (formId: string, section: string) => `${formId}-${section}`;

function Section({ formId, id, level, children }: { formId: string; id: string; level: 2 | 3; children: ReactNode }) {
  const { i18n } = useLingui();
  const Heading = level === 2 ? "h2" : "h3";
  const anchor = anchorOf(formId, id);
  const title = SECTIONS.find((section) => section.id === id)?.title;
  return (
    <section
      id={anchor}
      aria-labelledby={`${anchor}-title`}
      className={cn(
        "grid scroll-mt-4 grid-cols-[minmax(0,1fr)] content-start gap-4 max-sm:scroll-mt-16",
        "[[data-form-page]_&]:scroll-mt-16 max-sm:[[data-form-page]_&]:scroll-mt-28",
      )}
    >
      <Heading
        id={`${anchor}-title`}
        tabIndex={-1}
        className="border-b border-line pb-1.5 text-base font-semibold outline-none"
      >
        {title ? i18n._(title) : null}
      </Heading>
      {children}
    </section>
  );
}

/** The sections as anchors; a red dot says where something is wrong. Beside the form, or above it on a phone. */
function SectionNav({ formId }: { formId: string }) {
  const { t, i18n } = useLingui();
  const {
    formState: { errors },
  } = useFormContext<ChannelValues>();
  const [current, setCurrent] = useState(SECTIONS[0]?.id);

  useEffect(() => {
    const seen = new IntersectionObserver(
      (entries) => {
        const top = entries.find((entry) => entry.isIntersecting);
        if (top) setCurrent(SECTIONS.find((section) => anchorOf(formId, section.id) === top.target.id)?.id);
      },
      // The line below the top edge that decides which section is being read.
      { rootMargin: "-15% 0px -75% 0px" },
    );
    for (const section of SECTIONS) {
      const element = document.getElementById(anchorOf(formId, section.id));
      if (element) seen.observe(element);
    }
    return () => seen.disconnect();
  }, [formId]);

  const goTo = (id: string) => {
    const anchor = anchorOf(formId, id);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    document.getElementById(anchor)?.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
    document.getElementById(`${anchor}-title`)?.focus({ preventScroll: true });
    setCurrent(id);
  };

  return (
    <nav
      aria-label={t`表单章节`}
      className={cn(
        "w-24 shrink-0 max-sm:sticky max-sm:top-0 max-sm:z-10 max-sm:-mx-4 max-sm:w-auto max-sm:border-b",
        "max-sm:border-line max-sm:bg-raised max-sm:px-4",
        // On a page of its own it stays below the top bar.
        "max-sm:[[data-form-page]_&]:top-12 max-sm:[[data-form-page]_&]:bg-canvas",
      )}
    >
      <ol className="sticky top-0 grid gap-0.5 max-sm:flex max-sm:overflow-x-auto sm:[[data-form-page]_&]:top-16">
        {SECTIONS.map((section) => {
          const wrong = section.fields.some((field) => errors[field] !== undefined);
          return (
            <li key={section.id} className="shrink-0">
              <button
                type="button"
                aria-current={section.id === current ? "true" : undefined}
                onClick={() => goTo(section.id)}
                className={cn(
                  "flex min-h-8 w-full items-center gap-1.5 rounded-md px-2 text-left text-ink-2 -outline-offset-2",
                  "hover:text-ink aria-current:bg-accent-soft aria-current:font-medium aria-current:text-accent-text",
                  "max-sm:min-h-10 max-sm:rounded-b-none max-sm:px-1.5 pointer-coarse:min-h-10",
                )}
              >
                {i18n._(section.title)}
                {wrong ? (
                  <>
                    <span aria-hidden className="size-1.5 shrink-0 rounded-full bg-red-solid" />
                    <span className="sr-only">{t`（有错误）`}</span>
                  </>
                ) : null}
              </button>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

/** After an attempt to save that failed, the first field that is wrong gets the focus. */
function useFocusFirstError(root: RefObject<HTMLDivElement | null>, attempts: number, errors: object) {
  const wrong = Object.keys(errors).length > 0;
  useEffect(() => {
    if (attempts === 0 || !wrong) return;
    const field = root.current?.querySelector<HTMLElement>("[aria-invalid=true]");
    field?.focus({ preventScroll: true });
    field?.scrollIntoView({ block: "center" });
    // Only an attempt moves the focus, not a field that turns wrong while it is typed into.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [attempts]);
}
