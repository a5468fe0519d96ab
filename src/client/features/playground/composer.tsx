import { useLingui } from "@lingui/react/macro";
import { ImagePlus, SendHorizontal, Square } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button";
import { IconButton } from "../../ui/icon-button";
import { MAX_IMAGES } from "./image-file";
import { PicturePicker, PictureStrip, readPictures } from "./pictures";

/** Where the next message is written. Enter sends, Shift+Enter breaks the line; pictures by button, paste or drop. */
export function Composer({
  text,
  onText,
  busy,
  loading,
  disabled,
  onSend,
  onStop,
}: {
  text: string;
  onText: (text: string) => void;
  busy: boolean;
  /** Which models there are is not known yet. */
  loading: boolean;
  /** No model can be called. */
  disabled: boolean;
  onSend: (text: string, images: string[]) => void;
  onStop: () => void;
}) {
  const { t } = useLingui();
  const [images, setImages] = useState<string[]>([]);

  const attach = async (files: readonly File[]) => {
    const read = await readPictures(files);
    setImages((before) => [...before, ...read].slice(0, MAX_IMAGES));
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
      <PictureStrip
        images={images}
        onRemove={(index) => setImages((before) => before.filter((_, at) => at !== index))}
      />
      <textarea
        aria-label={t`消息`}
        placeholder={disabled && !loading ? t`没有可用的模型` : t`输入消息，Enter 发送，Shift+Enter 换行`}
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
        <PicturePicker onFiles={(files) => void attach(files)}>
          {(open) => (
            <IconButton label={t`添加图片`} disabled={images.length >= MAX_IMAGES} onClick={open}>
              <ImagePlus />
            </IconButton>
          )}
        </PicturePicker>
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
