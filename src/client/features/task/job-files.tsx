import { useLingui } from "@lingui/react/macro";
import { ExternalLink } from "lucide-react";
import { useState } from "react";
import type { JobFile } from "../../../shared/task-list";

/** What a job made, to be looked at and listened to. Nothing of it is fetched before it is asked for, but pictures. */
export function JobFiles({ files }: { files: readonly JobFile[] }) {
  const { t } = useLingui();
  if (files.length === 0) return null;
  return (
    <ul aria-label={t`结果`} className="grid grid-cols-[minmax(0,1fr)] gap-3">
      {files.map((file, index) => (
        <li key={file.url}>
          <Shown file={file} number={files.length > 1 ? index + 1 : 0} />
        </li>
      ))}
    </ul>
  );
}

/** `number` counts them where there are several. */
function Shown({ file, number }: { file: JobFile; number: number }) {
  const { t } = useLingui();
  const [broken, setBroken] = useState(false);
  const what = { image: t`图片`, audio: t`音频`, video: t`视频` }[file.media];
  const name = number > 0 ? `${what} ${number}` : what;
  const onError = () => setBroken(true);
  return (
    <figure className="grid gap-1">
      {broken ? (
        <p className="rounded-lg border border-line bg-sunken px-3 py-6 text-center text-muted">{t`文件已过期，或暂时无法读取`}</p>
      ) : file.media === "image" ? (
        <a href={file.url} target="_blank" rel="noreferrer" className="rounded-lg">
          <img
            src={file.url}
            alt={name}
            onError={onError}
            className="max-h-[60dvh] max-w-full rounded-lg border border-line bg-sunken object-contain"
          />
        </a>
      ) : file.media === "audio" ? (
        <audio controls preload="none" src={file.url} aria-label={name} onError={onError} className="w-full" />
      ) : (
        <video
          controls
          preload="metadata"
          src={file.url}
          aria-label={name}
          onError={onError}
          className="max-h-[60dvh] w-full rounded-lg bg-sunken"
        />
      )}
      <figcaption className="flex items-center justify-between gap-2 text-xs text-muted">
        <span className="truncate">{name}</span>
        <a
          href={file.url}
          target="_blank"
          rel="noreferrer"
          className="inline-flex min-h-6 items-center gap-1 text-accent-text hover:underline"
        >
          {t`打开文件`}
          <ExternalLink aria-hidden className="size-3" />
        </a>
      </figcaption>
    </figure>
  );
}
