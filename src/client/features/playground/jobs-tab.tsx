import { useLingui } from "@lingui/react/macro";
import { Hourglass, ImagePlus, Send } from "lucide-react";
import { type ClipboardEvent, useId, useRef, useState } from "react";
import { Link } from "wouter";
import { isDrawing, JOB_KINDS, jobInputs, type JobKind, modelsOfKind } from "../../../shared/job-models";
import { EmptyState } from "../../components/empty-state";
import { randomId } from "../../lib/random-id";
import { useStatus } from "../../lib/status";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { CheckboxField } from "../../ui/checkbox";
import { Combobox } from "../../ui/combobox";
import { Input, Textarea } from "../../ui/input";
import { Label } from "../../ui/label";
import { NumberField } from "../../ui/number-field";
import { RadioCards } from "../../ui/radio-cards";
import { canSubmit, emptyJob, type JobForm, JobRefused, submitJob } from "./job-call";
import { JobCard, type SubmittedJob } from "./job-card";
import { PicturePicker, PictureStrip, readPictures } from "./pictures";

type Change = (part: Partial<JobForm> | ((before: JobForm) => Partial<JobForm>)) => void;

const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4"];

/** Submits pictures, music and videos, and watches them: what was submitted since the page was opened, newest first. */
export default function JobsTab({
  group,
  models,
  jobs,
  onSubmitted,
}: {
  group: string;
  /** What can be called in the group. */
  models: readonly string[];
  jobs: readonly SubmittedJob[];
  onSubmitted: (job: SubmittedJob) => void;
}) {
  const { t } = useLingui();
  const { enable_drawing, enable_task } = useStatus();
  const on = (kind: JobKind): boolean => (isDrawing(kind) ? enable_drawing : enable_task) !== false;
  const kinds = JOB_KINDS.filter((kind) => on(kind) && modelsOfKind(kind, models).length > 0);
  const [form, setForm] = useState(emptyJob);
  /** Of what the form holds: said again after a broken connection it is the same job. */
  const key = useRef(randomId());
  const utils = trpc.useUtils();
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const kind = kinds.includes(form.kind) ? form.kind : kinds[0];
  if (kind === undefined) {
    return (
      <EmptyState
        icon={Hourglass}
        title={t`没有可以提交的任务`}
        description={t`这个分组里没有绘图、音乐或视频模型。`}
      />
    );
  }
  const videos = modelsOfKind("video", models);
  const filled: JobForm = { ...form, kind, model: videos.includes(form.model) ? form.model : (videos[0] ?? "") };
  const change: Change = (part) => {
    key.current = randomId();
    setForm((before) => ({ ...before, ...(typeof part === "function" ? part(before) : part) }));
  };
  const names = {
    drawing: t`图片`,
    blend: t`混图`,
    describe: t`图生文`,
    music: t`音乐`,
    lyrics: t`歌词`,
    video: t`视频`,
  };
  const submit = async () => {
    setBusy(true);
    setError("");
    try {
      const name = await submitJob(filled, group, key.current);
      onSubmitted({ drawing: isDrawing(kind), name, prompt: filled.prompt.trim() || names[kind] });
      change({ prompt: "", images: [] });
      void utils.user.self.invalidate();
    } catch (thrown) {
      if (thrown instanceof JobRefused) key.current = randomId();
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
          if (!busy && canSubmit(filled)) void submit();
        }}
      >
        <RadioCards
          aria-label={t`任务类型`}
          value={kind}
          onValueChange={(next) => change({ kind: next })}
          cards={kinds.map((value) => ({ value, title: names[value] }))}
        />
        <Fields form={filled} onChange={change} videos={videos} />
        {error ? (
          <p role="alert" className="rounded-md bg-red-bg px-3 py-2 text-red-fg wrap-anywhere">
            {error}
          </p>
        ) : null}
        <Button
          type="submit"
          variant="primary"
          className="justify-self-start"
          loading={busy}
          disabled={!canSubmit(filled)}
        >
          <Send aria-hidden />
          {t`提交任务`}
        </Button>
      </form>
      {jobs.length > 0 ? <Submitted jobs={jobs} drawing={on("drawing")} tasks={on("music")} /> : null}
    </div>
  );
}

function Submitted({ jobs, drawing, tasks }: { jobs: readonly SubmittedJob[]; drawing: boolean; tasks: boolean }) {
  const { t } = useLingui();
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <h2 className="flex flex-wrap items-baseline justify-between gap-2 font-medium">
        {t`已提交的任务`}
        <span className="flex gap-3 text-sm font-normal">
          {drawing ? <Link href="/midjourney" className="text-accent-text hover:underline">{t`全部绘图`}</Link> : null}
          {tasks ? <Link href="/task" className="text-accent-text hover:underline">{t`全部任务`}</Link> : null}
        </span>
      </h2>
      {jobs.map((job) => (
        <JobCard key={job.name} job={job} />
      ))}
    </section>
  );
}

function Fields({ form, onChange, videos }: { form: JobForm; onChange: Change; videos: readonly string[] }) {
  const { t } = useLingui();
  const id = useId();
  const { kind, prompt, model, seconds, ratio, title, tags, instrumental } = form;
  const attach = async (files: readonly File[]) => {
    const read = await readPictures(files);
    if (read.length > 0) onChange((before) => ({ images: [...before.images, ...read].slice(0, jobInputs[kind].most) }));
  };
  const pastePictures = async (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files];
    if (files.length === 0 || jobInputs[kind].most === 0) return;
    event.preventDefault();
    await attach(files);
  };
  return (
    <>
      {kind === "video" ? (
        <div className="grid gap-4 sm:grid-cols-3">
          <div className="grid content-start gap-1">
            <Label id={`${id}-model`}>{t`视频模型`}</Label>
            <Combobox
              aria-labelledby={`${id}-model`}
              value={model || null}
              options={videos.map((value) => ({ value, label: value }))}
              onValueChange={(value) => value !== null && onChange({ model: value })}
            />
          </div>
          <div className="grid content-start gap-1">
            <Label htmlFor={`${id}-seconds`}>{t`时长（秒）`}</Label>
            <NumberField
              id={`${id}-seconds`}
              min={1}
              max={60}
              step={1}
              placeholder={t`默认`}
              value={seconds}
              onValueChange={(value) => onChange({ seconds: value === null ? null : Math.max(1, Math.round(value)) })}
            />
          </div>
          <div className="grid content-start gap-1">
            <Label id={`${id}-ratio`}>{t`画面比例`}</Label>
            <Combobox
              aria-labelledby={`${id}-ratio`}
              value={ratio || null}
              clearable
              placeholder={t`默认`}
              options={RATIOS.map((value) => ({ value, label: value }))}
              onValueChange={(value) => onChange({ ratio: value ?? "" })}
            />
          </div>
        </div>
      ) : null}
      {kind === "music" ? (
        <div className="grid gap-4 sm:grid-cols-2">
          <div className="grid gap-1">
            <Label htmlFor={`${id}-title`}>{t`歌名`}</Label>
            <Input
              id={`${id}-title`}
              maxLength={200}
              value={title}
              onChange={(event) => onChange({ title: event.target.value })}
            />
          </div>
          <div className="grid gap-1">
            <Label htmlFor={`${id}-tags`}>{t`风格`}</Label>
            <Input
              id={`${id}-tags`}
              maxLength={500}
              value={tags}
              placeholder={t`例如：民谣，吉他`}
              onChange={(event) => onChange({ tags: event.target.value })}
            />
          </div>
          <CheckboxField
            label={t`纯音乐`}
            checked={instrumental}
            onCheckedChange={(checked) => onChange({ instrumental: checked === true })}
          />
        </div>
      ) : null}
      {jobInputs[kind].prompt === "none" ? null : (
        <div className="grid gap-1">
          <Label htmlFor={`${id}-prompt`}>{kind === "music" && (title || tags) ? t`歌词` : t`提示词`}</Label>
          <Textarea
            id={`${id}-prompt`}
            rows={4}
            value={prompt}
            onChange={(event) => onChange({ prompt: event.target.value })}
            onPaste={(event) => void pastePictures(event)}
          />
        </div>
      )}
      {jobInputs[kind].most > 0 ? <Pictures form={form} onChange={onChange} onFiles={attach} /> : null}
    </>
  );
}

/** The pictures that a job begins with. */
function Pictures({
  form: { kind, images },
  onChange,
  onFiles,
}: {
  form: JobForm;
  onChange: Change;
  onFiles: (files: readonly File[]) => Promise<void>;
}) {
  const { t } = useLingui();
  const id = useId();
  const { least, most } = jobInputs[kind];
  const shown = images.slice(0, most);
  const hint =
    kind === "blend"
      ? t`${least} 到 ${most} 张`
      : kind === "describe"
        ? t`要描述的图片，一张`
        : kind === "video"
          ? t`可留空；第一张是首帧，能否用多张由模型决定`
          : t`可留空；作为参考的图片，最多 ${most} 张`;
  return (
    <div
      role="group"
      aria-labelledby={`${id}-label`}
      aria-describedby={`${id}-hint`}
      className="grid gap-2"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void onFiles([...event.dataTransfer.files]);
      }}
    >
      <span className="grid gap-1">
        <Label id={`${id}-label`}>{t`输入图片`}</Label>
        <span id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </span>
      </span>
      <PictureStrip images={shown} onRemove={(index) => onChange({ images: shown.filter((_, at) => at !== index) })} />
      <PicturePicker onFiles={(files) => void onFiles(files)}>
        {(open) => (
          <Button size="sm" className="justify-self-start" disabled={shown.length >= most} onClick={open}>
            <ImagePlus aria-hidden />
            {t`添加图片`}
          </Button>
        )}
      </PicturePicker>
    </div>
  );
}
