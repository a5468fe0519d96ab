import { useLingui } from "@lingui/react/macro";
import { ImagePlus, SendHorizontal, Square, X } from "lucide-react";
import { useRef, useState } from "react";
import { toastError } from "../../lib/toast";
import { Button } from "../../ui/button";
import { IconButton } from "../../ui/icon-button";
import { IMAGE_TYPES, imageDataUrl, MAX_IMAGES } from "./image-file";

/** Where the next message is written. Enter sends, Shift+Enter breaks the line; pictures by button, paste or drop. */
export function Composer({ text, onText, busy, disabled, onSend, onStop }: {
  text: string;
  onText: (text: string) => void;
  busy: boolean;
  /** No model can be called. */
  disabled: boolean;
  onSend: (text: string, images: string[]) => void;
  onStop: () => void;
}) {
  const { t } = useLingui();
  const [images, setImages] = useState<string[]>([]);
  const picker = useRef<HTMLInputElement>(null);

  const attach = async (files: readonly File[]) => {
    for (const file of files.filter(({ type }) => IMAGE_TYPES.includes(type) && type !== "")) {
      try {
        const url = await imageDataUrl(file);
        setImages((before) => (before.length < MAX_IMAGES ? [...before, url] : before));
      } catch {
        const { name } = file;
        toastError(t`无法读取图片 ${name}`);
      }
    }
  };
  const send = () => {
    if (busy || disabled || (text.trim() === "" && images.length === 0)) return;
    onSend(text, images);
    onText("");
    setImages([]);
  };

  return (
    <form
      className="grid gap-2 rounded-lg border border-line-control bg-surface p-2 focus-within:border-accent"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void attach([...event.dataTransfer.files]);
      }}
    >
      {images.length > 0 ? (
        <ul className="flex flex-wrap gap-2">
          {images.map((image, index) => (
            <li key={index} className="relative">
              <img src={image} alt={t`附图 ${index + 1}`} className="size-16 rounded-md border border-line object-cover" />
              <IconButton
                size="sm"
                variant="secondary"
                label={t`移除附图 ${index + 1}`}
                className="absolute -top-2 -right-2"
                onClick={() => setImages((before) => before.filter((_, at) => at !== index))}
              >
                <X />
              </IconButton>
            </li>
          ))}
        </ul>
      ) : null}
      <textarea
        aria-label={t`消息`}
        placeholder={disabled ? t`没有可用的模型` : t`输入消息，Enter 发送，Shift+Enter 换行`}
        rows={2}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          // While an input method composes, Enter chooses a word.
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
        onPaste={(event) => {
          const files = [...event.clipboardData.files];
          if (files.length === 0) return;
          event.preventDefault();
          void attach(files);
        }}
        className="max-h-60 min-h-12 w-full resize-none bg-transparent px-1 text-base field-sizing-content outline-none placeholder:text-muted"
      />
      <div className="flex items-center gap-2">
        <input
          ref={picker}
          type="file"
          accept={IMAGE_TYPES}
          multiple
          hidden
          aria-label={t`选择图片`}
          onChange={(event) => {
            void attach([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
        <IconButton label={t`添加图片`} disabled={images.length >= MAX_IMAGES} onClick={() => picker.current?.click()}>
          <ImagePlus />
        </IconButton>
        <span className="flex-1" />
        {busy ? (
          <Button onClick={onStop}>
            <Square aria-hidden />
            {t`停止`}
          </Button>
        ) : (
          <Button variant="primary" type="submit" disabled={disabled || (text.trim() === "" && images.length === 0)}>
            <SendHorizontal aria-hidden />
            {t`发送`}
          </Button>
        )}
      </div>
    </form>
  );
}
