/** Pictures that go out with a message or a job: chosen, shown small, taken away again. */
import { t } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { X } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { toastError } from "../../lib/toast";
import { IconButton } from "../../ui/icon-button";
import { IMAGE_TYPES, imageDataUrl } from "./image-file";

/** The pictures among files as data: URLs; one that cannot be read is named in a toast. */
export async function readPictures(files: readonly File[]): Promise<string[]> {
  const read = files
    .filter(({ type }) => type !== "" && IMAGE_TYPES.includes(type))
    .map(async (file) => {
      try {
        return [await imageDataUrl(file)];
      } catch {
        const { name } = file;
        toastError(t`无法读取图片 ${name}`);
        return [];
      }
    });
  return (await Promise.all(read)).flat();
}

/** The pictures, each with its removal. */
export function PictureStrip({ images, onRemove }: { images: readonly string[]; onRemove: (index: number) => void }) {
  const { t } = useLingui();
  if (images.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2">
      {images.map((image, index) => (
        <li key={index} className="relative">
          <img
            src={image}
            alt={t`附图 ${index + 1}`}
            className="size-16 rounded-md border border-line object-cover pointer-coarse:size-20"
          />
          <IconButton
            size="sm"
            variant="secondary"
            label={t`移除附图 ${index + 1}`}
            className="absolute -top-2 -right-2 pointer-coarse:size-8"
            onClick={() => onRemove(index)}
          >
            <X />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

/** The browser's choice of files behind a button of the caller's. */
export function PicturePicker({
  onFiles,
  children,
}: {
  onFiles: (files: File[]) => void;
  children: (open: () => void) => ReactNode;
}) {
  const { t } = useLingui();
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        accept={IMAGE_TYPES}
        multiple
        hidden
        aria-label={t`选择图片`}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      {children(() => picker.current?.click())}
    </>
  );
}
