import { useLingui } from "@lingui/react/macro";
import { Hourglass, Send } from "lucide-react";
import { useId, useState } from "react";
import { Link } from "wouter";
import { JOB_KINDS, type JobKind, modelsOfKind } from "../../../shared/job-models";
import { EmptyState } from "../../components/empty-state";
import { useStatus } from "../../lib/status";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { CheckboxField } from "../../ui/checkbox";
import { Combobox } from "../../ui/combobox";
import { Input, Textarea } from "../../ui/input";
import { Label } from "../../ui/label";
import { NumberField } from "../../ui/number-field";
import { RadioCards } from "../../ui/radio-cards";
import { emptyJob, type JobForm, submitJob } from "./job-call";
import { JobCard, type SubmittedJob } from "./job-card";

const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4"];

/** Submits pictures, music and films, and watches them: what was submitted since the page was opened, newest first. */
export function JobsTab({ group, models, jobs, onSubmitted }: {
  group: string;
  /** What can be called in the group. */
  models: readonly string[];
  jobs: readonly SubmittedJob[];
  onSubmitted: (job: SubmittedJob) => void;
}) {
  const { t } = useLingui();
  const { enable_drawing, enable_task } = useStatus();
  const on = (kind: JobKind): boolean => (kind === "drawing" ? enable_drawing : enable_task) !== false;
  const kinds = JOB_KINDS.filter((kind) => on(kind) && modelsOfKind(kind, models).length > 0);
  const [form, setForm] = useState(emptyJob);
  const utils = trpc.useUtils();
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const kind = kinds.includes(form.kind) ? form.kind : kinds[0];
  if (kind === undefined) {
    return <EmptyState icon={Hourglass} title={t`没有可以提交的任务`} description={t`这个分组里没有绘图、音乐或视频模型。`} />;
  }
  const videos = modelsOfKind("video", models);
  const filled: JobForm = { ...form, kind, model: videos.includes(form.model) ? form.model : (videos[0] ?? "") };
  const change = (part: Partial<JobForm>) => setForm((before) => ({ ...before, ...part }));
  const submit = async () => {
    setBusy(true);
    setError("");
    try {
      onSubmitted({ drawing: kind === "drawing", name: await submitJob(filled, group), prompt: filled.prompt.trim() });
      change({ prompt: "" });
      void utils.user.self.invalidate();
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown.message : String(thrown));
    }
    setBusy(false);
  };

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6 pb-4">
      <form
        className="grid max-w-180 gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && filled.prompt.trim() !== "") void submit();
        }}
      >
        <RadioCards
          aria-label={t`任务类型`}
          value={kind}
          onValueChange={(next) => change({ kind: next })}
          cards={kinds.map((value) => ({ value, title: { drawing: t`图片`, music: t`音乐`, lyrics: t`歌词`, video: t`视频` }[value] }))}
        />
        <Fields form={filled} onChange={change} videos={videos} />
        {error ? <p role="alert" className="rounded-md bg-red-bg px-3 py-2 text-red-fg wrap-anywhere">{error}</p> : null}
        <Button type="submit" variant="primary" className="justify-self-start" loading={busy} disabled={filled.prompt.trim() === ""}>
          <Send aria-hidden />
          {t`提交任务`}
        </Button>
      </form>
      {jobs.length > 0 ? (
        <section className="grid grid-cols-[minmax(0,1fr)] gap-3">
          <h2 className="flex flex-wrap items-baseline justify-between gap-2 font-medium">
            {t`已提交的任务`}
            <span className="flex gap-3 text-sm font-normal">
              {on("drawing") ? <Link href="/midjourney" className="text-accent-text hover:underline">{t`全部绘图`}</Link> : null}
              {on("music") ? <Link href="/task" className="text-accent-text hover:underline">{t`全部任务`}</Link> : null}
            </span>
          </h2>
          {jobs.map((job) => <JobCard key={job.name} job={job} />)}
        </section>
      ) : null}
    </div>
  );
}

function Fields({ form, onChange, videos }: { form: JobForm; onChange: (part: Partial<JobForm>) => void; videos: readonly string[] }) {
  const { t } = useLingui();
  const id = useId();
  const { kind, prompt, model, seconds, ratio, title, tags, instrumental } = form;
  return (
    <>
      {kind === "video" ? (
        <div className="grid gap-4 sm:grid-cols-3">
          <div className="grid content-start gap-1">
            <Label id={`${id}-model`}>{t`视频模型`}</Label>
            <Combobox
              aria-labelledby={`${id}-model`} value={model || null} options={videos.map((value) => ({ value, label: value }))}
              onValueChange={(value) => value !== null && onChange({ model: value })}
            />
          </div>
          <div className="grid content-start gap-1">
            <Label htmlFor={`${id}-seconds`}>{t`时长（秒）`}</Label>
            <NumberField
              id={`${id}-seconds`} min={1} max={60} step={1} placeholder={t`默认`} value={seconds}
              onValueChange={(value) => onChange({ seconds: value === null ? null : Math.max(1, Math.round(value)) })}
            />
          </div>
          <div className="grid content-start gap-1">
            <Label id={`${id}-ratio`}>{t`画面比例`}</Label>
            <Combobox
              aria-labelledby={`${id}-ratio`} value={ratio || null} clearable placeholder={t`默认`}
              options={RATIOS.map((value) => ({ value, label: value }))} onValueChange={(value) => onChange({ ratio: value ?? "" })}
            />
          </div>
        </div>
      ) : null}
      {kind === "music" ? (
        <div className="grid gap-4 sm:grid-cols-2">
          <div className="grid gap-1">
            <Label htmlFor={`${id}-title`}>{t`歌名`}</Label>
            <Input id={`${id}-title`} maxLength={200} value={title} onChange={(event) => onChange({ title: event.target.value })} />
          </div>
          <div className="grid gap-1">
            <Label htmlFor={`${id}-tags`}>{t`风格`}</Label>
            <Input id={`${id}-tags`} maxLength={500} value={tags} placeholder={t`例如：民谣，吉他`} onChange={(event) => onChange({ tags: event.target.value })} />
          </div>
          <CheckboxField label={t`纯音乐`} checked={instrumental} onCheckedChange={(checked) => onChange({ instrumental: checked === true })} />
        </div>
      ) : null}
      <div className="grid gap-1">
        <Label htmlFor={`${id}-prompt`}>{kind === "music" && (title || tags) ? t`歌词` : t`提示词`}</Label>
        <Textarea id={`${id}-prompt`} rows={4} value={prompt} onChange={(event) => onChange({ prompt: event.target.value })} />
      </div>
    </>
  );
}
